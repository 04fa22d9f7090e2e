import PandoSystem

/// Merges the fields of two bodies, which are both in the order of their encoded names.
struct RecordMerger: ~Copyable {
  private let old: RecordTape
  private let new: RecordTape
  private let policy: RecordMerge.Policy
  private var output: CBORWriter
  private var result = RecordMerge()

  init(old: RecordTape, new: RecordTape, policy: RecordMerge.Policy) {
    self.old = old
    self.new = new
    self.policy = policy
    output = CBORWriter(minimumCapacity: old.byteCount + new.byteCount)
  }

  mutating func merge(leaving names: Set<String>) throws(CBORError) -> RecordMerge {
    guard let oldFields = RecordMerger.fields(of: old),
      let newFields = RecordMerger.fields(of: new)
    else { return mergeWhole() }
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
            old.key(of: oldFields[oldIndex]), new.key(of: newFields[newIndex]))
      if order < 0 {
        copyOld(oldFields[oldIndex])
      } else if order > 0 {
        if policy == .update { try add(newFields[newIndex]) }
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
  private mutating func mergeWhole() -> RecordMerge {
    guard policy == .update else { return result }
    RecordFitter(tape: new, keepsTypes: false).fit(0, .root, nil, into: &output)
    // The bytes outlive the tapes and are read here.
    if unsafe !old.bytes(of: 0).elementsEqual(output.buffer) {
      result.body = output.bytes
    }
    return result
  }

  private mutating func merge(
    _ newField: Int, into oldField: Int, leaving names: Set<String>
  ) throws(CBORError) {
    // The bytes outlive the tapes and are read here.
    let oldValue = unsafe old.bytes(of: oldField)
    let newValue = unsafe new.bytes(of: newField)
    if unsafe compareBytes(oldValue, newValue) == 0 { return copyOld(oldField) }
    if !names.isEmpty, names.contains(try name(oldField, old)) { return copyOld(oldField) }
    var shape = RecordShape()
    // Scalars have no shape.
    let hasShape = old[oldField].kind != .scalar || new[newField].kind != .scalar
    if hasShape { shape.absorb(old, oldField, .field) }
    if policy == .projection, try !fits(newField, oldField, shape) {
      result.keptFields.append(try name(oldField, old))
      return copyOld(oldField)
    }
    unsafe output.append(raw: old.key(of: oldField))
    let start = output.count
    RecordFitter(tape: new, keepsTypes: policy == .projection)
      .fit(newField, .field, shape, into: &output)
    if unsafe hasShape && oldValue.elementsEqual(output.buffer[start...]) { return }
    result.changedFields.append(try name(oldField, old))
  }

  private func name(_ field: Int, _ tape: RecordTape) throws(CBORError) -> String {
    // Same as above.
    var reader = unsafe CBORReader(tape.key(of: field))
    return try reader.text()
  }

  private mutating func add(_ field: Int) throws(CBORError) {
    result.changedFields.append(try name(field, new))
    // Same as above.
    unsafe output.append(raw: new.key(of: field))
    unsafe output.append(raw: new.bytes(of: field))
  }

  private mutating func copyOld(_ field: Int) {
    // Same as above.
    unsafe output.append(raw: old.key(of: field))
    unsafe output.append(raw: old.bytes(of: field))
  }

  /// Whether the type of the old body can probably decode the new value.
  private func fits(
    _ newValue: Int, _ oldValue: Int, _ shape: RecordShape
  ) throws(CBORError) -> Bool {
    // Same as above.
    let oldKind = try unsafe RecordValueKind(old.bytes(of: oldValue))
    let newKind = try unsafe RecordValueKind(new.bytes(of: newValue))
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
  private static func fields(of body: RecordTape) -> [Int]? {
    guard body[0].kind == .fields(isOptional: false) else { return nil }
    let fields = body.contents(of: 0)
    // Keys that are no texts belong to dictionaries.
    let haveNames = fields.allSatisfy {
      unsafe body.key(of: $0).first.map(CBORHead.Major.init(first:)) == .text
    }
    return haveNames ? fields : nil
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

  /// Determines the kind of an item, whose bytes are read during the call only.
  init(_ item: UnsafeRawBufferPointer) throws(CBORError) {
    let head = try unsafe CBORReader(item).peek()
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
