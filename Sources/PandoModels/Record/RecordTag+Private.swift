extension RecordTag {
  /// Whether a tag has a meaning for records only.
  static func isPrivate(_ tag: UInt64) -> Bool {
    (requiredReference...entries).contains(tag)
  }
}
