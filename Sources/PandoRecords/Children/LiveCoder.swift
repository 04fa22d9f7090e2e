import PandoModels
import PandoSystem

/// Finds, replaces and merges the children of models through their coding, without a store.
///
/// A model is encoded as for a record, but its children are put into a list instead of records, and
/// references contain their indexes. Decoding takes them from the list.
enum LiveCoder {
  /// A model's coding without its children.
  struct Coded {
    let body: [UInt8]
    let children: [any Model]
  }

  /// Encodes a model and replaces its children.
  ///
  /// - Parameters:
  ///   - model: Any codable value.
  ///   - children: The children of earlier references; new ones are appended.
  ///   - transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `nil` if a required child was removed.
  /// - Throws: The error of the model's own coding.
  static func encode(
    _ model: any Encodable, after children: [any Model] = [],
    _ transform: @escaping (any Model) -> (any Model)?
  ) throws -> Coded? {
    var session = EncodingSession.begin(.live(transform), children: children)
    defer { EncodingSession.end(&session) }
    let frame = try session.makeFrame(in: nil, slot: .required, level: 0, splits: true)
    guard
      try frame.encodeInline(model, slot: .required, level: 0, splits: true) == .written
    else { return nil }
    let coded = unsafe Coded(body: frame.writer.bytes, children: session.children)
    session.recycle(frame)
    return coded
  }

  /// Makes a model from its coding.
  ///
  /// - Parameters:
  ///   - type: The model's type.
  ///   - coded: Its coding.
  ///   - oldChildCount: The number of children that belong to the older of two merged models.
  /// - Returns: The model.
  /// - Throws: `ModelError`; the error of the model's own coding.
  static func decode<Value: Decodable>(
    _ type: Value.Type, _ coded: Coded, oldChildCount: Int = 0
  ) throws -> Value {
    try unsafe coded.body.withUnsafeBytes { body in
      try unsafe RecordDecoder.decode(type, from: body) {
        DecodingSession.begin(
          children: LiveChildren(models: coded.children, oldCount: oldChildCount) {
            convert($0, to: $1, amid: $2)
          })
      }
    }
  }

  /// Calls a closure with every child of a model.
  static func forEach(_ model: any Encodable, _ visit: (any Model) -> Void) throws {
    // The session with the closure ends inside.
    try withoutActuallyEscaping(visit) { visit in
      _ = try encode(model) { child in
        visit(child)
        return child
      }
    }
  }

  /// Replaces the children of a model.
  ///
  /// - Returns: `nil` if a required child was removed.
  static func map<Value: Model & Codable>(
    _ model: Value, _ transform: (any Model) -> (any Model)?
  ) throws -> Value? {
    try withoutActuallyEscaping(transform) { transform in
      let watch = MapWatch.current
      defer { watch?.isCoded = true }
      var isTouched = false
      guard
        let coded = try encode(
          model,
          { child in
            watch?.keepsChild = false
            let replacement = transform(child)
            if watch?.keepsChild != true { isTouched = true }
            guard let replacement else { return nil }
            // A model of another type is ignored.
            return type(of: replacement) == type(of: child) ? replacement : child
          })
      else { return nil }
      return isTouched ? try decode(Value.self, coded) : model
    }
  }
}

extension LiveCoder {
  /// Merges the fields of a newer model of another type into one: those of the same name.
  ///
  /// - Parameters:
  ///   - newer: The model whose fields count.
  ///   - older: The model that keeps its type and all other fields.
  /// - Returns: The merged model, and the names of the fields that `older`'s type could not decode.
  /// - Throws: The error of the models' own coding.
  static func merge<Value: Model & Codable>(
    _ newer: any Encodable, into older: Value
  ) throws -> (model: Value, kept: [String]) {
    guard let old = try encode(older, { $0 }),
      let new = try encode(newer, after: old.children, { $0 })
    else { return (older, []) }
    var kept: [String] = []
    while let body = try joined(old.body, new.body, keeping: kept) {
      do {
        let coded = Coded(body: body, children: new.children)
        let model = try decode(Value.self, coded, oldChildCount: old.children.count)
        return (model, kept)
      } catch let error as ModelError {
        guard let field = error.topField, !kept.contains(field) else { throw error }
        kept.append(field)
      }
    }
    return (older, kept)
  }

  /// Returns a value, with the fields that its coding omits taken from an older one of the same
  /// type.
  ///
  /// - Parameters:
  ///   - newer: The value whose fields count.
  ///   - older: The source of the other fields.
  /// - Returns: The completed value.
  /// - Throws: The error of the models' own coding.
  static func complete<Value: Model & Codable>(
    _ newer: Value, from older: Value
  ) throws -> Value {
    guard let old = try encode(older, { $0 }),
      let new = try encode(newer, after: old.children, { $0 }),
      let body = try completed(new.body, from: old.body)
    else { return newer }
    let coded = Coded(body: body, children: new.children)
    return try decode(Value.self, coded, oldChildCount: old.children.count)
  }

  /// The fields of one map, and the missing ones of another, in format order.
  ///
  /// - Returns: `nil` if one of them is not a map, or no field is missing.
  private static func completed(_ new: [UInt8], from old: [UInt8]) throws -> [UInt8]? {
    guard let newFields = try fields(new), let oldFields = try fields(old) else { return nil }
    let present = Set(newFields.map(\.key))
    let missing = oldFields.filter { !present.contains($0.key) }
    guard !missing.isEmpty else { return nil }
    let all =
      newFields.map { ($0.key, $0.text, new[$0.value]) }
      + missing.map { ($0.key, $0.text, old[$0.value]) }
    // Keys are sorted by their encoded bytes: shorter ones first.
    let sorted = all.ordered { left, right in
      left.0.count != right.0.count
        ? left.0.count < right.0.count : left.0.lexicographicallyPrecedes(right.0)
    }
    var writer = CBORWriter()
    writer.append(mapHead: sorted.count)
    for (_, text, value) in sorted {
      writer.append(text)
      writer.append(raw: value)
    }
    return writer.bytes
  }

  /// The fields of one map, with the values of another if it has them, too.
  ///
  /// - Returns: `nil` if one of them is not a map, or no value comes from the other.
  private static func joined(
    _ old: [UInt8], _ new: [UInt8], keeping kept: [String]
  ) throws -> [UInt8]? {
    guard let oldFields = try fields(old), let newFields = try fields(new) else { return nil }
    let newer = Dictionary(newFields.map { ($0.key, $0.value) }) { $1 }
    var writer = CBORWriter()
    var takenCount = 0
    writer.append(mapHead: oldFields.count)
    for field in oldFields {
      writer.append(field.text)
      if let taken = newer[field.key], !kept.contains(field.text) {
        writer.append(raw: new[taken])
        takenCount += 1
      } else {
        writer.append(raw: old[field.value])
      }
    }
    return takenCount > 0 ? writer.bytes : nil
  }

  /// The fields of a map, with key bytes for comparison; `nil` if the body is not a map.
  private static func fields(
    _ body: [UInt8]
  ) throws -> [(key: [UInt8], text: String, value: Range<Int>)]? {
    try unsafe body.withUnsafeBytes { bytes in
      var reader = unsafe CBORReader(bytes)
      guard try reader.peek().major == .map else { return nil }
      return try (0..<(try reader.mapHead())).map { _ in
        let text = try reader.text()
        let start = reader.offset
        try reader.skip()
        return (Array(text.utf8), text, start..<reader.offset)
      }
    }
  }

  /// Makes a child of one type with the data of one of another type.
  ///
  /// - Parameters:
  ///   - child: The newer child.
  ///   - type: The type of the slot.
  ///   - children: The children of the older model.
  /// - Returns: `nil` if that is impossible.
  static func convert<Known: Model>(
    _ child: any Model, to type: Known.Type, amid children: ArraySlice<any Model>
  ) -> (any Model)? {
    if let identifier = child.modelIdentifier {
      for old in children {
        guard let old = old as? Known, let own = old.modelIdentifier else { continue }
        if own.utf8.elementsEqual(identifier.utf8) { return old.merge(child) as? Known }
      }
    }
    guard let decodable = type as? any (Model & Decodable).Type,
      let encodable = child as? any Encodable
    else { return nil }
    return read(encodable, as: decodable)
  }

  private static func read<Known: Model & Decodable>(
    _ child: any Encodable, as type: Known.Type
  ) -> (any Model)? {
    guard let coded = try? encode(child, { $0 }) else { return nil }
    return try? decode(type, coded)
  }
}
