/// Copies a value to the slot of another body with the kinds of slots, and optionally the types of
/// children, of the old value's shape.
struct RecordFitter {
  let tape: RecordTape
  let keepsTypes: Bool

  /// Copies an item.
  func fit(
    _ place: Int, _ slot: RecordSlot, _ shape: RecordShape?, into output: inout CBORWriter
  ) {
    let kind = tape[place].kind
    // The bytes outlive the tape and are copied here.
    guard tape[place].hasReference else { return unsafe output.append(raw: tape.bytes(of: place)) }
    let isOptional = slot == .field && !(shape?.isRequired ?? !kind.isOptional)
    if let child = tape[place].reference {
      let type = keepsTypes ? shape?.type ?? child.type : child.type
      return output.append(
        reference: RecordReference(node: child.node, type: type), isOptional: isOptional)
    }
    let contents = tape.contents(of: place)
    if kind == .entries { output.append(tag: RecordTag.entries) }
    if kind.hasFields, isOptional { output.append(tag: RecordTag.optionalSlot) }
    output.append(head: kind == .list ? .array : .map, UInt64(contents.count))
    for inner in contents {
      // Same as above.
      let key = unsafe tape.key(of: inner)
      unsafe output.append(raw: key)
      if kind.hasFields {
        fit(inner, .field, shape.flatMap { unsafe $0.fields[Array(key)] }, into: &output)
      } else {
        fit(inner, kind == .list ? .element : .entry, shape?.elements.first, into: &output)
      }
    }
  }
}

/// The kinds of slots in a value of a record, and the types of the children in them.
///
/// All elements of an array share one shape, as do all values of a dictionary, because they have
/// one static type.
struct RecordShape {
  /// The common value of all elements of an array, if any.
  private indirect enum Agreement<Value: Equatable> {
    case nothing
    case one(Value)
    case several

    mutating func add(_ value: Value) {
      switch self {
      case .nothing: self = .one(value)
      case .one(let known): self = known == value ? self : .several
      case .several: break
      }
    }

    var value: Value? {
      if case .one(let value) = self { value } else { nil }
    }
  }

  private var types = Agreement<UInt32>.nothing
  private var requirements = Agreement<Bool>.nothing

  /// The type number of all references here; `nil` if there are none, or several types.
  var type: UInt32? { types.value }

  /// Whether the slot is required; `nil` if unknown.
  var isRequired: Bool? { requirements.value }

  /// The shapes of the fields, by encoded name.
  var fields: [[UInt8]: RecordShape] = [:]

  /// The shape of the elements or values, if any is known.
  var elements: [RecordShape] = []

  /// Adds the shape of an item.
  mutating func absorb(_ tape: RecordTape, _ place: Int, _ slot: RecordSlot) {
    let kind = tape[place].kind
    switch kind {
    case .scalar:
      // The bytes outlive the tape and are read here.
      let isNull = unsafe tape.bytes(of: place).elementsEqual([0xF6])
      if isNull, slot == .field { requirements.add(false) }
    case .reference:
      if let child = tape[place].reference { types.add(child.type) }
      if slot == .field { requirements.add(!kind.isOptional) }
    case .tagged:
      absorb(tape, place + 1, slot)
    case .list, .entries:
      guard tape[place].hasReference else { return }
      var shape = elements.first ?? RecordShape()
      for inner in tape.contents(of: place) { shape.absorb(tape, inner, .element) }
      elements = [shape]
    case .fields:
      if kind.isOptional { requirements.add(false) }
      for inner in tape.contents(of: place) {
        // Same as above.
        let name = unsafe Array(tape.key(of: inner))
        fields[name, default: RecordShape()].absorb(tape, inner, .field)
      }
      if tape[place].hasReference, !kind.isOptional, slot == .field { requirements.add(true) }
    }
  }
}
