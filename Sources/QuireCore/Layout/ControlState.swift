/// What a control at the end of a view shows: pulled out so far, or at work.
public enum ControlState: Hashable, Sendable {
  /// At rest.
  case none
  /// Pulled out; at a progress of 1 letting go starts it.
  case releasing(progress: Double)
  /// At work.
  case loading

  /// Whether it is pulled out, however far.
  public var isReleasing: Bool {
    if case .releasing = self { true } else { false }
  }

  /// Progress, slow at first: p².
  public static func eased(_ progress: Double) -> Double { progress * progress }

  /// Which of `count` frames shows a progress; the last one from 1 on.
  public static func frame(at progress: Double, of count: Int) -> Int {
    max(0, min(Int(progress * Double(count)), count - 1))
  }
}

extension ControlState: CustomStringConvertible {
  /// `None`, `Releasing: 0.5` or `Loading`.
  public var description: String {
    switch self {
    case .none: "None"
    case .releasing(let progress): "Releasing: \(progress)"
    case .loading: "Loading"
    }
  }
}
