import PandoModels

extension EncodingFrame {
  /// Encodes a value of any type.
  ///
  /// The static type of the slot, `Value`, determines the encoding. A cast would not do: an
  /// optional of a model casts to a model, but is none.
  func encode<Value: Encodable>(
    _ value: Value, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    let traits = unsafe TypeTable.traits(of: Value.self)
    return try unsafe encode(value, traits, slot: slot, level: level)
  }

  /// The same with known traits of `Value`.
  func encode<Value: Encodable>(
    _ value: Value, _ traits: UnsafePointer<TypeTraits>, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    if let type = unsafe traits.pointee.encodable {
      return try encode(value, as: type, slot: slot, level: level)
    }
    if unsafe splits, let type = unsafe traits.pointee.model {
      return try unsafe encodeModel(value, as: type, traits, slot: slot, level: level)
    }
    if unsafe traits.pointee.model != nil, case .whole = unsafe session.mode {
      return try unsafe session.encodeWhole(value, slot: slot, level: level, in: self)
    }
    let isWhole = unsafe traits.pointee.isWhole
    return unsafe try encodeInline(value, slot: slot, level: level, splits: splits && !isWhole)
  }

  /// Encodes a value of a type that conforms to ``RecordEncodable``.
  private func encode<Value, Known: RecordEncodable>(
    _ value: Value, as type: Known.Type, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    unsafe try withUnsafePointer(to: value) { pointer in
      // The traits of `Value` ensure that it is the same type as `Known`.
      let known = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Known.self)
      return try unsafe known.pointee.encodeRecord(to: self, slot: slot, level: level)
    }
  }

  /// Encodes a value at the end of this frame's bytes.
  func encodeInline<Value: Encodable>(
    _ value: Value, slot: EncodingSlot, level: Int, splits: Bool
  ) throws -> EncodingOutcome {
    if unsafe session.usesFields,
      let fields = unsafe TypeTable.traits(of: Value.self).pointee.fields
    {
      return try writeFields(of: value, as: fields, slot: slot, level: level + 1, splits: splits)
    }
    let frame = try unsafe session.makeFrame(in: self, slot: slot, level: level + 1, splits: splits)
    do {
      try frame.encodeContents(of: value)
      let outcome = try frame.finish(into: self)
      unsafe session.recycle(frame)
      return outcome
    } catch {
      frame.end()
      throw error
    }
  }

  /// Encodes the contents of the value of this frame with its own `encode(to:)`.
  func encodeContents<Value: Encodable>(of value: Value) throws {
    if unsafe session.marksEnums, Self.isEnum(Value.self) { unsafe isMarkedEnum = true }
    try value.encode(to: self)
  }

  /// Encodes a value that writes its own fields, at the end of this frame's bytes.
  func writeFields<Value, Known: FieldCodable>(
    of value: Value, as type: Known.Type, slot: EncodingSlot, level: Int, splits: Bool
  ) throws -> EncodingOutcome {
    let outerSplits = unsafe self.splits
    unsafe self.splits = splits
    defer { unsafe self.splits = outerSplits }
    var sink = try FieldSink(self, level: level)
    try unsafe withUnsafePointer(to: value) { pointer in
      // The traits of `Value` ensure that it is the same type as `Known`.
      let known = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Known.self)
      #if DEBUG
        unsafe FieldCheck.check(known.pointee)
      #endif
      try unsafe known.pointee.write(to: &sink)
    }
    let isMarkedEnum = unsafe session.marksEnums && Self.isEnum(Value.self)
    return try sink.finish(slot: slot, isMarkedEnum: isMarkedEnum)
  }

  /// Encodes the value of the latest field.
  func encodeField<Value: Encodable>(
    _ value: Value, slot: EncodingSlot, name: @autoclosure () -> String
  ) throws {
    let (edgeCount, referenceCount) = unsafe (edges.count, referenceCount)
    do {
      if unsafe try encode(value, slot: slot, level: level) == .written { return endEntry() }
      guard slot == .optional else {
        cancelEntry()
        unsafe isLost = true
        return
      }
      unsafe writer.truncate(to: entries[entries.count - 1].value)
      unsafe writer.appendNull()
      endEntry()
    } catch {
      cancelEntry()
      unsafe edges.removeSubrange(edgeCount...)
      unsafe self.referenceCount = referenceCount
      throw ModelError.located(error, inside: name())
    }
  }

  private func encodeModel<Value: Encodable, Known: Model>(
    _ value: Value, as type: Known.Type, _ traits: UnsafePointer<TypeTraits>, slot: EncodingSlot,
    level: Int
  ) throws -> EncodingOutcome {
    switch unsafe session.mode {
    case .whole: preconditionFailure("a frame that splits in a session that does not")
    case .live(let transform):
      let model = unsafe withUnsafePointer(to: value) { pointer in
        // The traits of `Value` ensure that it is the same type as `Known`.
        unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Known.self).pointee
      }
      guard let replacement = transform(model) else { return .lost }
      let index = unsafe UInt64(session.children.count)
      unsafe session.children.append(replacement)
      append(RecordReference(node: index, type: 0), slot: slot)
    case .records(let sink):
      let reference = try unsafe session.encodeNode(
        value, as: type, traits, in: self, to: sink, level: level, splits: true)
      guard let reference else {
        return try encodeInline(value, slot: slot, level: level, splits: true)
      }
      append(reference, slot: slot)
    }
    return .written
  }

  private func append(_ reference: RecordReference, slot: EncodingSlot) {
    unsafe writer.append(reference: reference, isOptional: slot == .optional)
    unsafe edges.append(RecordEdge(child: reference, kinds: slot.edgeKinds))
    unsafe referenceCount += 1
  }
}

extension EncodingFrame {
  /// Writes the complete value into the frame around it.
  func finish(into target: EncodingFrame) throws -> EncodingOutcome {
    let outcome = try unsafe finish(into: &target.writer)
    if unsafe outcome == .written && referenceCount > 0 {
      unsafe target.referenceCount += referenceCount
      unsafe target.edges += edges
    }
    return outcome
  }

  /// Writes the complete value.
  ///
  /// Afterwards this frame has the edges of its whole contents.
  func finish(into writer: inout CBORWriter) throws -> EncodingOutcome {
    if unsafe !nested.isEmpty { try settleNested() }
    if let failure = unsafe failure { throw failure }
    if unsafe isLost { return .lost }
    switch unsafe layout {
    case .nothing: writer.append(mapHead: 0)
    case .single: unsafe writer.append(raw: self.writer.buffer)
    case .array:
      unsafe writer.append(arrayHead: entries.count)
      try copyEntries(to: &writer)
    case .map:
      try sortFields()
      if unsafe isMarkedEnum { writer.append(tag: RecordTag.enumeration) }
      if unsafe slot == .optional && holdsReference {
        writer.append(tag: RecordTag.optionalSlot)
      }
      unsafe writer.append(mapHead: entries.count)
      try copyEntries(to: &writer)
    }
    return .written
  }

  /// Determines the outcome of frames that were filled later: a lost field makes the value lost, a
  /// lost element is removed.
  private func settleNested() throws {
    for frame in unsafe nested {
      if unsafe !frame.nested.isEmpty { try frame.settleNested() }
      if let failure = unsafe frame.failure { throw failure }
      if unsafe frame.isLost && layout != .array { unsafe isLost = true }
    }
    if unsafe layout == .array {
      unsafe entries.removeAll { unsafe $0.nested >= 0 && nested[$0.nested].isLost }
    }
  }

  private var holdsReference: Bool {
    unsafe referenceCount > 0 || nested.contains { $0.holdsReference }
  }

  private func copyEntries(to writer: inout CBORWriter) throws {
    if unsafe nested.isEmpty { return copyPlainEntries(to: &writer) }
    for index in unsafe 0..<entries.count {
      let entry = unsafe entries[index]
      // Entries lie within the written bytes.
      unsafe writer.append(
        raw: UnsafeRawBufferPointer(
          start: self.writer.base + entry.start, count: entry.end - entry.start))
      guard entry.nested >= 0 else { continue }
      let frame = unsafe nested[entry.nested]
      _ = try frame.finish(into: &writer)
      unsafe referenceCount += frame.referenceCount
      unsafe edges += frame.edges
    }
  }

  /// The same if all entries are complete.
  private func copyPlainEntries(to writer: inout CBORWriter) {
    let base = unsafe self.writer.base
    // Entries lie within the written bytes and do not overlap.
    var room = unsafe writer.beginAppending(upTo: self.writer.count)
    for index in unsafe 0..<entries.count {
      let entry = unsafe entries[index]
      let count = entry.end - entry.start
      unsafe CBORWriter.copy(base + entry.start, to: room, count)
      unsafe room += count
    }
    unsafe writer.endAppending(at: room)
  }

  /// Sorts the fields by the bytes of their keys; of two with one key, the later one stays.
  ///
  /// - Throws: `ModelError` if a field with a child was encoded twice.
  private func sortFields() throws {
    guard unsafe content.pointee.sortEntries() else { return }
    if unsafe referenceCount > 0 {
      throw ModelError(.codingFailed, reason: "encode(to:) encoded a field twice")
    }
    unsafe content.pointee.dropEarlierDuplicates()
  }
}
