import PandoModels
import PandoSystem

extension DecodingSession {
  /// Decodes a value from all of the bytes.
  func decodeWhole<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer
  ) throws -> Value {
    do {
      var reader = unsafe CBORReader(body)
      let value = try decode(type, from: &reader, level: 0)
      try reader.finish()
      return value
    } catch {
      throw ModelError(coding: error) ?? error
    }
  }

  /// Decodes a value of any type.
  func decode<Value: Decodable>(
    _ type: Value.Type, from reader: inout CBORReader, level: Int
  ) throws -> Value {
    try unsafe decode(type, TypeTable.traits(of: type), from: &reader, level: level)
  }

  /// The same with known traits of `Value`.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, from reader: inout CBORReader,
    level: Int
  ) throws -> Value {
    if let known = unsafe traits.pointee.decodable {
      return try decode(known, as: type, from: &reader, level: level)
    }
    if unsafe traits.pointee.simpleModel != nil, let found = try reader.peekReference() {
      let value = try unsafe decodeReference(
        type, traits, found.reference, at: reader, level: level)
      reader.advance(by: found.byteCount)
      return value
    }
    let start = unsafe reader.position
    let value = try unsafe decodeInline(type, traits, from: reader, level: level)
    if let end = unsafe endOfMap(at: start) {
      unsafe reader.advance(by: end - start)
    } else {
      try reader.skip()
    }
    return value
  }

  /// Decodes the value at the position of a reader, ignoring later bytes.
  func decode<Value: Decodable>(
    _ type: Value.Type, at reader: CBORReader, level: Int
  ) throws -> Value {
    let traits = unsafe TypeTable.traits(of: type)
    if let known = unsafe traits.pointee.decodable {
      var reader = reader
      return try decode(known, as: type, from: &reader, level: level)
    }
    return try unsafe decodeModel(type, traits, from: reader, level: level)
  }

  /// Decodes a type that conforms to ``RecordDecodable``.
  private func decode<Known: RecordDecodable, Value>(
    _ known: Known.Type, as type: Value.Type, from reader: inout CBORReader, level: Int
  ) throws -> Value {
    let value = try Known.decodeRecord(from: &reader, in: self, level: level)
    // The traits of `Value` ensure that it is the same type as `Known`.
    return unsafe unsafeBitCast(value, to: Value.self)
  }

  /// Decodes a value with its `init(from:)`, from the next item of a reader.
  func decodeModel<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, from value: CBORReader, level: Int
  ) throws -> Value {
    if unsafe traits.pointee.simpleModel != nil, let found = try value.peekReference() {
      return try unsafe decodeReference(type, traits, found.reference, at: value, level: level)
    }
    return try unsafe decodeInline(type, traits, from: value, level: level)
  }

  /// Decodes a value from the bytes in place.
  func decodeInline<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, from value: CBORReader, level: Int
  ) throws -> Value {
    guard unsafe level < levelLimit else {
      return try unsafe decodeBelowLimit(type, traits, from: value, level: level)
    }
    if unsafe usesFields, let fields = unsafe traits.pointee.fields {
      return try unsafe decodeFields(fields, as: type, traits, from: value, level: level + 1)
    }
    if let item = unsafe traits.pointee.item {
      do {
        return try decodeItem(item, as: type, from: value)
      } catch {
        // Read again below by `init(from:)`, whose error counts.
      }
    }
    let (outerMapCount, outerOwner) = unsafe (mapCount, owner)
    unsafe owner = traits
    defer {
      unsafe owner = outerOwner
      dropMaps(downTo: outerMapCount)
    }
    return try Value(from: ValueDecoder(self, value, level: level + 1))
  }

  /// Decodes a value that reads its own fields.
  private func decodeFields<Known: FieldCodable, Value>(
    _ known: Known.Type, as type: Value.Type, _ traits: UnsafePointer<TypeTraits>,
    from value: CBORReader, level: Int
  ) throws -> Value {
    let outerMapCount = unsafe mapCount
    defer { dropMaps(downTo: outerMapCount) }
    var source = try unsafe FieldSource(
      FieldReader.open(value, in: self, level: level, owner: traits))
    // Moved through memory of both types, because a cast would copy it: the traits of `Value`
    // ensure that it is the same type as `Known`.
    let (room, usedBefore) = unsafe takeRoom(
      byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment)
    defer { unsafe giveBack(room, usedBefore: usedBefore) }
    try unsafe room.assumingMemoryBound(to: Known.self).initialize(to: Known(fields: &source))
    return unsafe room.assumingMemoryBound(to: Value.self).move()
  }

  /// Decodes a value that reads itself from one item.
  private func decodeItem<Known: RecordItemDecodable, Value>(
    _ known: Known.Type, as type: Value.Type, from value: CBORReader
  ) throws -> Value {
    let (room, usedBefore) = unsafe takeRoom(
      byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment)
    defer { unsafe giveBack(room, usedBefore: usedBefore) }
    var reader = value
    // As above: the traits of `Value` ensure that it is the same type as `Known`.
    try unsafe room.assumingMemoryBound(to: Known.self).initialize(to: Known(item: &reader))
    return unsafe room.assumingMemoryBound(to: Value.self).move()
  }

  /// The level of a container nested in one of a level.
  func nestedLevel(_ level: Int) throws -> Int {
    guard unsafe level < levelLimit else { throw EncodingSession.nestingTooDeep }
    return level + 1
  }

  /// Decodes a node from its own record, or takes it from the children of a live model.
  private func decodeReference<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, _ reference: RecordReference,
    at value: CBORReader, level: Int
  ) throws -> Value {
    if let children = unsafe children {
      return try unsafe decodeChild(
        type, traits, of: children, index: reference.node, at: value, level: level)
    }
    guard let simpleModel = unsafe traits.pointee.simpleModel, let source = unsafe source else {
      throw ModelError(
        .typeMismatch, reason: "a reference to another node, where none can be followed")
    }
    guard unsafe level < stackLimit else {
      return try onLargeStack(from: level) {
        try unsafe decodeReference(type, traits, reference, at: value, level: level)
      }
    }
    let body = try unsafe source.body(of: reference, as: simpleModel)
    let outerLimit = unsafe levelLimit
    unsafe levelLimit = level + RecordLimits.maximumNestingDepth
    unsafe childDepth += 1
    defer {
      unsafe childDepth -= 1
      unsafe levelLimit = outerLimit
    }
    do {
      // The root is not a child.
      guard unsafe childDepth < RecordLimits.maximumNodeDepth else {
        throw EncodingSession.nodesTooDeep
      }
      return try unsafe decodeModel(type, traits, from: CBORReader(body), level: level)
    } catch {
      guard let error = ModelError(coding: error) else { throw error }
      guard error.identifier == nil, let identifier = source.identifier(of: reference) else {
        throw error
      }
      throw error.about(identifier: identifier, typeName: simpleModel.modelTypeName)
    }
  }

  /// Continues with a node on a larger stack.
  @inline(never)
  private func onLargeStack<Result>(
    from level: Int, _ body: () throws -> Result
  ) throws -> Result {
    let outer = unsafe stackLimit
    unsafe stackLimit = level + LargeStack.levelCount
    defer { unsafe stackLimit = outer }
    return try LargeStack.coding(isFirst: outer == LargeStack.firstLevel, body)
  }

  /// Throws for a value that is too deep, except for models in a body encoded as a whole, which
  /// have levels of their own.
  @inline(never)
  private func decodeBelowLimit<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, from value: CBORReader, level: Int
  ) throws -> Value {
    let most = RecordLimits.maximumNodeDepth * RecordLimits.maximumNestingDepth
    guard unsafe traits.pointee.model != nil, unsafe source == nil, unsafe children == nil,
      level < most
    else { throw EncodingSession.nestingTooDeep }
    guard unsafe level < stackLimit else {
      return try onLargeStack(from: level) {
        try unsafe decodeBelowLimit(type, traits, from: value, level: level)
      }
    }
    let outerLimit = unsafe levelLimit
    unsafe levelLimit = level + RecordLimits.maximumNestingDepth
    defer { unsafe levelLimit = outerLimit }
    return try unsafe decodeInline(type, traits, from: value, level: level)
  }

  private func decodeChild<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, of children: LiveChildren,
    index: UInt64, at value: CBORReader, level: Int
  ) throws -> Value {
    guard index < UInt64(children.models.count) else {
      throw ModelError(.invalidRecord, reason: "a reference to a child that is not there")
    }
    let child = children.models[Int(index)]
    if let child = child as? Value { return child }
    if let known = unsafe traits.pointee.model,
      let converted = children.convert(
        child, known, children.models.prefix(children.oldCount)) as? Value
    {
      return converted
    }
    // A model without identifier may be a mere wrapper of the child.
    return try unsafe decodeInline(type, traits, from: value, level: level)
  }
}
