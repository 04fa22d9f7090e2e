extension TreeEncoder {
  /// Something that is open: its values are being written.
  struct Frame {
    enum Kind {
      /// The value that was given to the encoder.
      case root
      /// A node, in its own record, and how the record around it refers to it.
      case node(TreeNode, RecordReference, RecordPlace, isRequired: Bool)
      case array
      case object(isOptional: Bool)
      /// The keys of entries, each in a record of its own; the values come later.
      case keys([TreeValue])
      case entries
      case tag(UInt64)

      /// Whether it counts as a level of nesting.
      var isLevel: Bool {
        switch self {
        case .root, .node, .keys: false
        case .array, .object, .entries, .tag: true
        }
      }
    }

    let kind: Kind
    let values: [TreeValue]
    /// The names of an object's fields.
    var names: [String] = []
    /// The encoded keys of entries.
    var keys: [[UInt8]] = []
    /// Where its bytes begin in the record.
    var start = 0
    /// Which value comes next.
    var next = 0
    var hasReference = false

    /// Where its values stand.
    var place: RecordPlace {
      switch kind {
      case .root, .node: .root
      case .object: .field
      case .entries: .entry
      case .array, .keys, .tag: .element
      }
    }
  }

  mutating func push(
    _ kind: Frame.Kind, _ values: [TreeValue], names: [String] = [], keys: [[UInt8]] = []
  ) throws(ModelError) {
    if kind.isLevel {
      guard level < RecordLimits.maximumNestingDepth else {
        throw ModelError(
          .nestingTooDeep,
          reason: "nested deeper than \(RecordLimits.maximumNestingDepth) levels")
      }
      level += 1
    }
    let start = record.output.count
    frames.append(Frame(kind: kind, values: values, names: names, keys: keys, start: start))
  }
}
