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
    if unsafe usesFields, let fields = unsafe traits.pointee.fields {
      return try decodeFields(fields, as: type, from: &reader, level: level)
    }
    let value = try unsafe decodeInline(type, traits, from: reader, level: level)
    try reader.skip()
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
      var reader = value
      return try decodeFields(fields, as: type, from: &reader, level: level)
    }
    if let item = unsafe traits.pointee.item {
      do {
        return try decodeItem(item, as: type, from: value)
      } catch {
        // Read again below by `init(from:)`, whose error counts.
      }
    }
    let outerOwner = unsafe owner
    unsafe owner = traits
    defer { unsafe owner = outerOwner }
    return try Value(from: ValueDecoder(self, value, level: level + 1))
  }

  /// Decodes a value whose type is known at run time to read its own fields.
  private func decodeFields<Known: FieldCodable, Value>(
    _ known: Known.Type, as type: Value.Type, from reader: inout CBORReader, level: Int
  ) throws -> Value {
    // Moved through memory of both types, because a cast would copy it: the traits of `Value`
    // ensure that it is the same type as `Known`.
    let (room, usedBefore) = unsafe takeRoom(
      byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment)
    defer { unsafe giveBack(room, usedBefore: usedBefore) }
    try unsafe room.assumingMemoryBound(to: Known.self)
      .initialize(to: decodeInline(byFieldsOf: known, from: &reader, level: level))
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
    guard unsafe level < stackLimit else {
      return try onLargeStack(from: level) {
        try unsafe decodeReference(type, traits, reference, at: value, level: level)
      }
    }
    let (body, outerLimit) = try unsafe beginNode(reference, traits, level: level)
    defer { endNode(outerLimit) }
    do {
      return try unsafe decodeModel(type, traits, from: body, level: level)
    } catch {
      throw unsafe named(error, reference, traits)
    }
  }

  /// Begins to decode the record of a child.
  ///
  /// - Returns: The body, and the limit that ``endNode(_:)`` restores.
  private func beginNode(
    _ reference: RecordReference, _ traits: UnsafePointer<TypeTraits>, level: Int
  ) throws -> (body: CBORReader, outerLimit: Int) {
    guard let simpleModel = unsafe traits.pointee.simpleModel, let source = unsafe source else {
      throw ModelError(
        .typeMismatch, reason: "a reference to another node, where none can be followed")
    }
    // The root is not a child.
    guard unsafe childDepth < RecordLimits.maximumNodeDepth - 1 else {
      throw unsafe named(EncodingSession.nodesTooDeep, reference, traits)
    }
    let body = unsafe CBORReader(try source.body(of: reference, as: simpleModel))
    let outerLimit = unsafe levelLimit
    unsafe levelLimit = level + RecordLimits.maximumNestingDepth
    unsafe childDepth += 1
    return (body, outerLimit)
  }

  private func endNode(_ outerLimit: Int) {
    unsafe childDepth -= 1
    unsafe levelLimit = outerLimit
  }

  /// An error of a child's record, with the identifier of the innermost child.
  @inline(never)
  private func named(
    _ error: any Error, _ reference: RecordReference, _ traits: UnsafePointer<TypeTraits>
  ) -> any Error {
    guard let error = ModelError(coding: error), let type = unsafe traits.pointee.simpleModel else {
      return error
    }
    guard error.identifier == nil, let identifier = unsafe source?.identifier(of: reference) else {
      return error
    }
    return error.about(identifier: identifier, typeName: type.modelTypeName)
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

/// Values of static types that read their own fields: no part of the path looks up a
/// conformance or copies a value.
extension DecodingSession {
  /// Decodes a value, or a child by its reference.
  func decodeFields<Value: FieldCodable>(
    _ type: Value.Type, from reader: inout CBORReader, level: Int
  ) throws -> Value {
    if let found = try reader.peekReference() {
      let traits = unsafe TypeTable.traits(of: type)
      if unsafe traits.pointee.simpleModel != nil {
        let value = reader
        reader.advance(by: found.byteCount)
        return try unsafe decodeNode(type, traits, found.reference, at: value, level: level)
      }
    }
    return try decodeInline(byFieldsOf: type, from: &reader, level: level)
  }

  /// Decodes a value from the bytes in place.
  fileprivate func decodeInline<Value: FieldCodable>(
    byFieldsOf type: Value.Type, from reader: inout CBORReader, level: Int
  ) throws -> Value {
    guard unsafe level < levelLimit else {
      let start = reader
      try reader.skip()
      return try unsafe decodeBelowLimit(
        type, TypeTable.traits(of: type), from: start, level: level)
    }
    var fields = try FieldSource(reader, of: type, in: self, level: level + 1)
    let value = try Value(fields: &fields)
    try fields.finish(&reader)
    return value
  }

  private func decodeNode<Value: FieldCodable>(
    _ type: Value.Type, _ traits: UnsafePointer<TypeTraits>, _ reference: RecordReference,
    at value: CBORReader, level: Int
  ) throws -> Value {
    guard unsafe children == nil, unsafe level < stackLimit else {
      return try unsafe decodeReference(type, traits, reference, at: value, level: level)
    }
    var (body, outerLimit) = try unsafe beginNode(reference, traits, level: level)
    defer { endNode(outerLimit) }
    do {
      return try decodeFields(type, from: &body, level: level)
    } catch {
      throw unsafe named(error, reference, traits)
    }
  }

  /// Decodes a list.
  func decodeElementsByFields<Element: FieldCodable>(
    from reader: inout CBORReader, level: Int
  ) throws -> [Element] {
    guard unsafe level < levelLimit else { throw EncodingSession.nestingTooDeep }
    let head = try reader.head()
    guard head.major == .array else { throw ModelError.mismatch("an array", head) }
    let count = Int(head.argument)
    // A few damaged bytes may claim any number of elements.
    let reserved = min(count, Self.reservedCountMaximum)
    var elements = try unsafe [Element](unsafeUninitializedCapacity: reserved) { room, made in
      guard let first = room.baseAddress else { return }
      while made < reserved {
        // There is room for `reserved` elements.
        try unsafe (first + made).initialize(
          to: decodeElement(made, from: &reader, level: level + 1))
        made += 1
      }
    }
    for index in reserved..<count {
      elements.append(try decodeElement(index, from: &reader, level: level + 1))
    }
    return elements
  }

  private func decodeElement<Element: FieldCodable>(
    _ index: Int, from reader: inout CBORReader, level: Int
  ) throws -> Element {
    do {
      return try decodeFields(Element.self, from: &reader, level: level)
    } catch {
      throw ModelError.located(error, inside: "[\(index)]")
    }
  }
}
