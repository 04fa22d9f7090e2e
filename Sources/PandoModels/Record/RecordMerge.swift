/// What a merge of two bodies gave.
package struct RecordMerge: Hashable, Sendable {
  /// Which fields flow, and what is checked on the way.
  package enum Policy: Hashable, Sendable {
    /// The bodies are of two types with one identifier, and only the new one has changed.
    ///
    /// Fields that both have flow; those that only the new one has are not the old one's. A child
    /// keeps the type that the old body gives it. A value of another kind than the old one (a text
    /// for a number, null for a required child) does not flow, because the old type could not be
    /// decoded any more.
    case projection

    /// The new body holds some of the fields of the same type, with their new values.
    ///
    /// All its fields flow, whatever they held before. Only the kind of a slot, required or
    /// optional, stays.
    case update
  }

  /// The merged body, or `nil` when it is the same as the old one.
  package var body: [UInt8]?

  /// The names of the fields that have another value now.
  package var changedFields: [String]

  /// The names of the fields that kept their value, because the new one is of another kind.
  package var keptFields: [String]

  /// Makes a result; unless told otherwise, one of a merge that changed nothing.
  ///
  /// - Parameters:
  ///   - body: The merged body, or `nil` when it is the same as the old one.
  ///   - changedFields: The names of the fields that have another value now.
  ///   - keptFields: The names of the fields that kept their value.
  package init(
    body: [UInt8]? = nil, changedFields: [String] = [], keptFields: [String] = []
  ) {
    self.body = body
    self.changedFields = changedFields
    self.keptFields = keptFields
  }
}
