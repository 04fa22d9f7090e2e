/// Finds, replaces and merges the children of models through their coding, without a store.
///
/// A model is encoded as for a record, but children are put into a list instead of records of their
/// own, and references hold their places in it; decoding takes them back out.
enum LiveCoder {
  /// A model's coding without its children.
  struct Coded {
    let body: [UInt8]
    let children: [any Model]
  }

  /// Encodes a model and replaces its children on the way.
  ///
  /// - Parameters:
  ///   - model: Any codable value.
  ///   - children: What references before these hold; new ones come behind.
  ///   - transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `nil` if a required child was removed.
  /// - Throws: What the model's own coding throws.
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
  ///   - oldChildCount: How many of the children belong to the older of two models that are merged.
  /// - Returns: The model.
  /// - Throws: ``ModelError``; what the model's own coding throws.
  static func decode<Value: Decodable>(
    _ type: Value.Type, _ coded: Coded, oldChildCount: Int = 0
  ) throws -> Value {
    try unsafe coded.body.withUnsafeBytes { body in
      try unsafe RecordDecoder.decode(type, from: body) {
        DecodingSession.begin(children: coded.children, oldChildCount: oldChildCount)
      }
    }
  }

  /// Calls a closure with every child of a model.
  static func forEach(_ model: any Encodable, _ visit: (any Model) -> Void) throws {
    // The session that holds the closure ends inside.
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
      var isTouched = false
      guard
        let coded = try encode(
          model,
          { child in
            watch?.keepsChild = false
            let replacement = transform(child)
            if watch?.keepsChild != true { isTouched = true }
            guard let replacement else { return nil }
            // A model of another type replaces nothing.
            return type(of: replacement) == type(of: child) ? replacement : child
          })
      else { return nil }
      return isTouched ? try decode(Value.self, coded) : model
    }
  }
}
