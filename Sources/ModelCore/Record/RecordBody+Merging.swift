extension RecordBody {
  /// Lets the fields of one body flow into another.
  ///
  /// A field flows as a whole. Where it holds children, the node comes from the new body, and the
  /// kind of the slot from the old one, wherever the old one says it; see ``RecordMerge/Policy``
  /// for the rest.
  ///
  /// - Parameters:
  ///   - new: The body that has the newer values; read during the call only.
  ///   - old: The body they flow into; read during the call only.
  ///   - policy: Which fields flow.
  ///   - names: Fields of the old body that are left alone.
  /// - Returns: The merged body, and what has changed in it.
  /// - Throws: ``ModelError`` when the bytes are no record bodies.
  /// - Complexity: O(*n*) for *n* bytes in both.
  /// - Note: The elements of a set stay in the order of their bytes in the new body.
  package static func merging(
    _ new: UnsafeRawBufferPointer, into old: UnsafeRawBufferPointer,
    policy: RecordMerge.Policy = .projection, leaving names: Set<String> = []
  ) throws(ModelError) -> RecordMerge {
    // Both are read during the call only.
    var merger = RecordMerger(
      old: RecordCursor(unsafe Span(_unsafeBytes: old)),
      new: RecordCursor(unsafe Span(_unsafeBytes: new)), policy: policy)
    return try merger.merge(leaving: names)
  }
}

/// Walks the fields of two bodies, which both are in the order of their encoded names.
struct RecordMerger: ~Escapable {
  private typealias Field = (name: Range<Int>, value: Range<Int>)

  private var old: RecordCursor
  private var new: RecordCursor
  private let policy: RecordMerge.Policy
  private var output: [UInt8] = []
  private var result = RecordMerge()

  @_lifetime(copy old, copy new)
  init(
    old: consuming RecordCursor, new: consuming RecordCursor, policy: RecordMerge.Policy
  ) {
    self.old = old
    self.new = new
    self.policy = policy
  }

  mutating func merge(leaving names: Set<String>) throws(ModelError) -> RecordMerge {
    guard let oldFields = try RecordMerger.fields(&old),
      let newFields = try RecordMerger.fields(&new)
    else { return try mergeWhole() }
    var oldIndex = 0
    var newIndex = 0
    var count = 0
    output.reserveCapacity(old.bytes.count + new.bytes.count)
    output.appendHead(major: 5, UInt64(oldFields.count))
    while oldIndex < oldFields.count || newIndex < newFields.count {
      let order = compareNames(at: oldIndex, of: oldFields, with: newIndex, of: newFields)
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
    output.replaceHead(at: 0, major: 5, UInt64(oldFields.count), with: UInt64(count))
    if !result.changedFields.isEmpty || hasUnnamedChange { result.body = output }
    return result
  }

  /// A field whose key is no text has no name to report.
  private var hasUnnamedChange = false

  /// Bodies that are no objects have no fields: an update takes the new one, a projection keeps
  /// the old one.
  private mutating func mergeWhole() throws(ModelError) -> RecordMerge {
    guard policy == .update else { return result }
    var fitter = RecordFitter(new, keepsTypes: false)
    fitter.cursor.position = 0
    _ = try fitter.write(.root, shape: nil, depth: 0)
    let isSame =
      old.bytes.count == fitter.output.count
      && fitter.output.indices.allSatisfy { old.bytes[$0] == fitter.output[$0] }
    if !isSame { result.body = fitter.output }
    return result
  }

  private mutating func merge(
    _ newField: Field, into oldField: Field, leaving names: Set<String>
  ) throws(ModelError) {
    let name = try self.name(oldField.name)
    if let name, names.contains(name) { return copyOld(oldField) }
    if haveSameBytes(oldField.value, newField.value) { return copyOld(oldField) }
    let shape = try shape(of: oldField.value)
    if policy == .projection, try !fits(newField.value, oldField.value, shape) {
      if let name { result.keptFields.append(name) }
      return copyOld(oldField)
    }
    output.appendPart(of: old.bytes, oldField.name)
    let start = output.count
    try appendNew(newField.value, shape: shape)
    if !outputEndsWithOld(oldField.value, from: start) { report(name) }
  }

  private mutating func add(_ field: Field) throws(ModelError) {
    var cursor = new
    cursor.position = field.name.lowerBound
    report(try self.name(field.name, of: cursor))
    output.appendPart(of: new.bytes, field.name)
    try appendNew(field.value, shape: nil)
  }

  private mutating func appendNew(_ value: Range<Int>, shape: RecordShape?) throws(ModelError) {
    var cursor = new
    cursor.position = value.lowerBound
    var fitter = RecordFitter(cursor, keepsTypes: policy == .projection)
    _ = try fitter.write(.field, shape: shape, depth: 1)
    output.append(contentsOf: fitter.output)
  }

  private mutating func copyOld(_ field: Field) {
    output.appendPart(of: old.bytes, field.name.lowerBound..<field.value.upperBound)
  }

  private mutating func report(_ name: String?) {
    if let name { result.changedFields.append(name) } else { hasUnnamedChange = true }
  }

  /// Whether the type of the old body can most likely still be decoded with the new value.
  private func fits(
    _ newValue: Range<Int>, _ oldValue: Range<Int>, _ shape: RecordShape
  ) throws(ModelError) -> Bool {
    var oldCursor = old
    oldCursor.position = oldValue.lowerBound
    var newCursor = new
    newCursor.position = newValue.lowerBound
    let oldKind = try RecordValueKind(&oldCursor)
    let newKind = try RecordValueKind(&newCursor)
    if newKind == .null { return shape.isRequired != true }
    return oldKind == .null || newKind.fits(oldKind)
  }

  private func shape(of value: Range<Int>) throws(ModelError) -> RecordShape {
    var cursor = old
    cursor.position = value.lowerBound
    var shape = RecordShape()
    _ = try shape.absorb(&cursor, .field, depth: 1)
    return shape
  }

  /// The names and values of a body that is an object, or `nil` for another body.
  private static func fields(_ cursor: inout RecordCursor) throws(ModelError) -> [Field]? {
    let head = try cursor.head()
    guard head.major == 5 else { return nil }
    let count = try cursor.count(head)
    var fields: [Field] = []
    fields.reserveCapacity(count)
    for _ in 0..<count { fields.append((try cursor.skip(), try cursor.skip())) }
    guard cursor.isAtEnd else { throw cursor.damaged("more than one item") }
    return fields
  }

  private func name(_ range: Range<Int>) throws(ModelError) -> String? {
    try name(range, of: old)
  }

  private func name(
    _ range: Range<Int>, of cursor: borrowing RecordCursor
  ) throws(ModelError) -> String? {
    var cursor = copy cursor
    cursor.position = range.lowerBound
    let head = try cursor.head()
    return head.major == 3 ? try cursor.text(at: cursor.content(head)) : nil
  }

  /// Below zero when the next name is one of the old body only, above when of the new one only.
  private func compareNames(
    at oldIndex: Int, of oldFields: [Field], with newIndex: Int, of newFields: [Field]
  ) -> Int {
    guard oldIndex < oldFields.count else { return 1 }
    guard newIndex < newFields.count else { return -1 }
    let oldName = oldFields[oldIndex].name
    let newName = newFields[newIndex].name
    for offset in 0..<min(oldName.count, newName.count) {
      let difference =
        Int(old.bytes[oldName.lowerBound + offset]) - Int(new.bytes[newName.lowerBound + offset])
      if difference != 0 { return difference }
    }
    return oldName.count - newName.count
  }

  private func haveSameBytes(_ oldRange: Range<Int>, _ newRange: Range<Int>) -> Bool {
    oldRange.count == newRange.count
      && (0..<oldRange.count).allSatisfy {
        old.bytes[oldRange.lowerBound + $0] == new.bytes[newRange.lowerBound + $0]
      }
  }

  private func outputEndsWithOld(_ range: Range<Int>, from start: Int) -> Bool {
    output.count - start == range.count
      && (0..<range.count).allSatisfy { old.bytes[range.lowerBound + $0] == output[start + $0] }
  }
}
