import PandoSystem

/// Merges the fields of two bodies, which are both in the order of their encoded names.
struct RecordMerger: ~Copyable {
  private struct Field {
    /// The range of the encoded name.
    let key: Range<Int>
    /// The number of its bytes that are the name.
    let nameByteCount: Int
    let value: Range<Int>
  }

  private let old: RecordCursor
  private let new: RecordCursor
  private let policy: RecordMerge.Policy
  private var output: CBORWriter
  private var result = RecordMerge()

  init(old: RecordCursor, new: RecordCursor, policy: RecordMerge.Policy) {
    self.old = old
    self.new = new
    self.policy = policy
    output = CBORWriter(minimumCapacity: old.byteCount + new.byteCount)
  }

  mutating func merge(leaving names: Set<String>) throws(RecordFault) -> RecordMerge {
    guard let oldFields = try RecordMerger.fields(of: old),
      let newFields = try RecordMerger.fields(of: new)
    else { return try mergeWhole() }
    var oldIndex = 0
    var newIndex = 0
    var count = 0
    while oldIndex < oldFields.count || newIndex < newFields.count {
      let order =
        oldIndex == oldFields.count
        ? 1
        : newIndex == newFields.count
          ? -1
          : unsafe compareBytes(
            old.slice(oldFields[oldIndex].key), new.slice(newFields[newIndex].key))
      if order < 0 {
        copyOld(oldFields[oldIndex])
      } else if order > 0 {
        if policy == .update { add(newFields[newIndex]) }
      } else {
        try merge(newFields[newIndex], into: oldFields[oldIndex], leaving: names)
      }
      if order <= 0 || policy == .update { count += 1 }
      if order <= 0 { oldIndex += 1 }
      if order >= 0 { newIndex += 1 }
    }
    output.insertHead(.map, UInt64(count), at: 0)
    if !result.changedFields.isEmpty { result.body = output.bytes }
    return result
  }

  /// Bodies that are no objects have no fields: an update uses the new one, a projection the old
  /// one.
  private mutating func mergeWhole() throws(RecordFault) -> RecordMerge {
    guard policy == .update else { return result }
    var fitter = RecordFitter(new, keepsTypes: false)
    try fitter.fit(.root, shape: nil, into: &output)
    // The bytes outlive the cursors and are read here.
    if unsafe !old.slice(0..<old.byteCount).elementsEqual(output.buffer) {
      result.body = output.bytes
    }
    return result
  }

  private mutating func merge(
    _ newField: Field, into oldField: Field, leaving names: Set<String>
  ) throws(RecordFault) {
    // The bytes outlive the cursors and are read here.
    let oldValue = unsafe old.slice(oldField.value)
    let newValue = unsafe new.slice(newField.value)
    if unsafe compareBytes(oldValue, newValue) == 0 { return copyOld(oldField) }
    if !names.isEmpty, names.contains(name(oldField, old)) { return copyOld(oldField) }
    var shape = RecordShape()
    // Scalars have no shape.
    let hasShape = unsafe !isScalar(oldValue) || !isScalar(newValue)
    if hasShape { try shape.absorb(RecordCursor(old, at: oldField.value.lowerBound)) }
    if policy == .projection, try !fits(newField.value, oldField.value, shape) {
      result.keptFields.append(name(oldField, old))
      return copyOld(oldField)
    }
    unsafe output.append(raw: old.slice(oldField.key))
    if hasShape {
      let start = output.count
      var fitter = RecordFitter(
        RecordCursor(new, at: newField.value.lowerBound), keepsTypes: policy == .projection)
      try fitter.fit(.field, shape: shape, into: &output)
      if unsafe oldValue.elementsEqual(output.buffer[start...]) { return }
    } else {
      unsafe output.append(raw: newValue)
    }
    result.changedFields.append(name(oldField, old))
  }

  /// Whether a value is a scalar, by the major type of its head.
  private func isScalar(_ value: UnsafeRawBufferPointer) -> Bool {
    guard let first = unsafe value.first else { return false }
    let major = CBORHead.Major(first: first)
    return major != .array && major != .map && major != .tag
  }

  /// The name of a field, which is known to be UTF-8.
  private func name(_ field: Field, _ cursor: RecordCursor) -> String {
    let end = field.key.upperBound
    return unsafe String(decoding: cursor.slice(end - field.nameByteCount..<end), as: UTF8.self)
  }

  private mutating func add(_ field: Field) {
    result.changedFields.append(name(field, new))
    // The bytes outlive the cursor and are read here.
    unsafe output.append(raw: new.slice(field.key.lowerBound..<field.value.upperBound))
  }

  private mutating func copyOld(_ field: Field) {
    // Same as above.
    unsafe output.append(raw: old.slice(field.key.lowerBound..<field.value.upperBound))
  }

  /// Whether the type of the old body can probably decode the new value.
  private func fits(
    _ newValue: Range<Int>, _ oldValue: Range<Int>, _ shape: RecordShape
  ) throws(RecordFault) -> Bool {
    let oldKind = try RecordValueKind(RecordCursor(old, at: oldValue.lowerBound))
    let newKind = try RecordValueKind(RecordCursor(new, at: newValue.lowerBound))
    if newKind == .null { return shape.isRequired != true }
    return oldKind == .null || newKind.fits(oldKind)
  }

  /// Negative if the first bytes precede the second ones, zero if both are equal.
  private func compareBytes(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
  ) -> Int {
    let count = min(first.count, second.count)
    if count > 0, let start = first.baseAddress, let other = second.baseAddress {
      let order = unsafe memcmp(start, other, count)
      if order != 0 { return Int(order) }
    }
    return first.count - second.count
  }

  /// The fields of a body that is an object; `nil` for another body.
  private static func fields(of body: RecordCursor) throws(RecordFault) -> [Field]? {
    var cursor = body
    let head = try cursor.head()
    guard head.major == .map else { return nil }
    var fields: [Field] = []
    // A damaged head may contain any number.
    fields.reserveCapacity(Int(min(head.argument, 32)))
    for _ in 0..<head.argument {
      let start = cursor.position
      // Keys that are no texts belong to dictionaries.
      guard case .scalar(let head) = try cursor.item(atDepth: 1), head.major == .text else {
        return nil
      }
      try cursor.checkText(head)
      fields.append(
        Field(
          key: start..<cursor.position, nameByteCount: Int(head.argument), value: try cursor.skip())
      )
    }
    try cursor.finish()
    return fields
  }
}

/// The kind of a value, as relevant to the type that decodes it.
enum RecordValueKind: Equatable {
  case null
  case bool
  case integer
  /// A floating-point number that equals no integer.
  case fraction
  case bytes
  case text
  case array
  /// An object, a dictionary or a child: a child without identifier is an object in its slot.
  case object
  case tagged(UInt64)

  /// Determines the kind of the item at a cursor.
  init(_ cursor: RecordCursor) throws(RecordFault) {
    var cursor = cursor
    let head = try cursor.head()
    switch head.major {
    case .unsigned, .negative: self = .integer
    case .bytes: self = .bytes
    case .text: self = .text
    case .array: self = .array
    case .map: self = .object
    case .tag: self = RecordTag.isPrivate(head.argument) ? .object : .tagged(head.argument)
    case .simple:
      if let number = head.double {
        self = number.rounded() == number && number.isFinite ? .integer : .fraction
      } else {
        self = head.bool == nil ? .null : .bool
      }
    }
  }

  /// Whether a type whose old value is of another kind can probably decode this one.
  ///
  /// An integer in place of a fraction is decoded as a `Double`; an `Int` cannot decode a fraction.
  func fits(_ old: RecordValueKind) -> Bool {
    self == old || (self == .integer && old == .fraction)
  }
}
