extension TreeBuilder {
  /// Makes the value of a frame that has all its items.
  func contents(of frame: Frame) throws(RecordFault) -> TreeValue {
    switch frame.kind {
    case .body, .node:
      return values[frame.start]
    case .array:
      return .array(Array(values[frame.start...]))
    case .object:
      return try object(frame)
    case .entries:
      return .entries(try entries(frame))
    case .tag(let tag):
      guard !frame.hasReference else { throw damaged("a reference inside of a tag") }
      if tag == RecordTag.positiveBignum || tag == RecordTag.negativeBignum {
        guard case .bytes = values[frame.start] else {
          throw damaged("a big integer that is no byte string")
        }
      }
      return .tagged(tag, values[frame.start])
    }
  }

  /// A map is an object when all its keys are texts.
  private func object(_ frame: Frame) throws(RecordFault) -> TreeValue {
    var fields = [String: TreeValue](minimumCapacity: (values.count - frame.start) / 2)
    for index in stride(from: frame.start, to: values.count, by: 2) {
      // Two spellings of one name are one key to a dictionary of texts, but not to entries.
      guard case .string(let name) = values[index],
        fields.updateValue(values[index + 1], forKey: name) == nil
      else {
        guard !frame.hasReference else {
          throw damaged("an object whose names are no texts, or occur twice")
        }
        return .entries(try entries(frame))
      }
    }
    return .object(fields)
  }

  private func entries(_ frame: Frame) throws(RecordFault) -> [TreeValue: TreeValue] {
    var entries = [TreeValue: TreeValue](minimumCapacity: (values.count - frame.start) / 2)
    for index in stride(from: frame.start, to: values.count, by: 2) {
      guard entries.updateValue(values[index + 1], forKey: values[index]) == nil else {
        throw damaged("a map that has one key twice")
      }
    }
    return entries
  }
}
