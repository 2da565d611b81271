import HTTPTypes

extension HTTPFields {
  /// These fields, then `others`.
  func appending(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields.append(field) }
    return fields
  }

  /// The value of a field, that of its first line where there are several.
  func first(_ name: HTTPField.Name) -> String? { first { $0.name == name }?.value }

  /// The fields that pass.
  func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
    var fields = HTTPFields()
    for field in self where isKept(field) { fields.append(field) }
    return fields
  }
}
