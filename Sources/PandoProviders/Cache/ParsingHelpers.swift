public import PandoModels

/// Helpers for caches that make models of a type `T` which the compiler can't check.
///
/// A cache that keeps bytes decodes them in the requested type:
///
/// ```swift
/// func model<T: SimpleModel>(
///   forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
/// ) async throws -> T? {
///   guard let data = files[cacheKey] else { return nil }
///   return try ParsingHelpers.decodeModel { try JSONDecoder().decode($0, from: data) }
/// }
/// ```
/// A cache whose models have a common superclass makes them through it:
///
/// ```swift
/// let (model, error): (T?, (any Error)?) = ParsingHelpers.parseModel { (type: Record.Type) in
///   type.init(data)
/// }
/// completion(model, error)
/// ```
///
/// A cache does not need them if it stores models as values.
///
/// - Note: Any thread may use it.
public enum ParsingHelpers {
  /// Decodes a model in a type that is checked for `Decodable` at run time.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - decode: Gets the type as a decodable one; returns a value of it.
  /// - Returns: The model.
  /// - Throws: ``DataProviderError`` `notCodable` if the type is not `Decodable`, `wrongType` if
  ///   `decode` returns another type; any error of `decode`.
  public static func decodeModel<T: SimpleModel>(
    as type: T.Type = T.self,
    _ decode: (any (SimpleModel & Decodable).Type) throws -> any SimpleModel
  ) throws -> T {
    try checked(try decode(try decodable(type)))
  }

  /// Decodes a collection, element by element, in a type that is checked for `Decodable` at run
  /// time.
  ///
  /// - Parameters:
  ///   - items: The encoded elements, in order.
  ///   - type: The type of the elements.
  ///   - decode: Gets the type as a decodable one and an item; returns a value of the type.
  /// - Returns: The elements in order.
  /// - Throws: As ``decodeModel(as:_:)``.
  public static func decodeCollection<T: SimpleModel, Item>(
    _ items: some Sequence<Item>, as type: T.Type = T.self,
    _ decode: (any (SimpleModel & Decodable).Type, Item) throws -> any SimpleModel
  ) throws -> [T] {
    let decodable = try decodable(type)
    return try items.map { try checked(try decode(decodable, $0)) }
  }

  /// Makes a model through the common superclass of a cache's models.
  ///
  /// - Parameter parse: Gets `T` as a subclass of `U`; returns an instance of it, or `nil` if there
  ///   is none. Its error is returned.
  /// - Returns: The model, or an error: that of `parse`, or ``DataProviderError`` `wrongType` if
  ///   `T` is not a `U`, or the instance is not a `T`.
  public static func parseModel<T: SimpleModel, U>(
    _ parse: (U.Type) throws -> U?
  ) -> (T?, (any Error)?) {
    answer { try parse(try subclass(T.self)).map { try checked($0) } }
  }

  /// Makes a collection through the common superclass of a cache's models.
  ///
  /// - Parameter parse: Gets `T` as a subclass of `U`; returns instances of it, or `nil` if the
  ///   collection does not exist. Its error is returned.
  /// - Returns: The elements in order, or an error as by ``parseModel(_:)``.
  public static func parseCollection<T: SimpleModel, U>(
    _ parse: (U.Type) throws -> [U]?
  ) -> ([T]?, (any Error)?) {
    answer { try parse(try subclass(T.self))?.map { try checked($0) } }
  }
}

extension ParsingHelpers {
  private static func answer<Value>(_ body: () throws -> Value?) -> (Value?, (any Error)?) {
    do { return (try body(), nil) } catch { return (nil, error) }
  }

  private static func decodable(
    _ type: any SimpleModel.Type
  ) throws -> any (SimpleModel & Decodable).Type {
    if let type = type as? any (SimpleModel & Decodable).Type { return type }
    throw DataProviderError.notCodable(type)
  }

  private static func subclass<U>(_ type: any SimpleModel.Type) throws -> U.Type {
    if let type = type as? U.Type { return type }
    throw DataProviderError(
      .wrongType, String(describing: type),
      "is not a \(U.self); all models of this cache must be")
  }

  private static func checked<T>(_ model: Any) throws -> T {
    if let model = model as? T { return model }
    throw DataProviderError(
      .wrongType, String(describing: T.self),
      "was requested, but the cache made a \(type(of: model))")
  }
}
