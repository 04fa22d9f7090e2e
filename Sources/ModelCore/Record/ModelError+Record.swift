extension ModelError {
  /// The same error, with the node in which it was found.
  func inNode(_ identifier: String, typeName: String) -> ModelError {
    var error = self
    error.identifier = identifier
    error.typeName = typeName
    return error
  }
}

extension RecordTag {
  /// Whether a tag has a meaning for records only.
  static func isPrivate(_ tag: UInt64) -> Bool {
    (requiredReference...entries).contains(tag)
  }
}
