import HTTPTypes

extension HTTPFields {
  /// These fields, then `others`.
  func appending(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields.append(field) }
    return fields
  }

  /// The fields that pass.
  func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
    var fields = HTTPFields()
    for field in self where isKept(field) { fields.append(field) }
    return fields
  }
}
