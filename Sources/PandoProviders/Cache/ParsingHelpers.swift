public import PandoModels

/// Helpers for caches, which are asked for models of a type `T` that they know more about than the
/// compiler does.
///
/// A cache that keeps bytes decodes them as the type that it is asked for:
///
/// ```swift
/// func model<T: SimpleModel>(
///   forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
/// ) async throws -> T? {
///   guard let data = files[cacheKey] else { return nil }
///   return try ParsingHelpers.decodeModel { try JSONDecoder().decode($0, from: data) }
/// }
/// ```
/// One whose models all have a class in common makes them through it:
///
/// ```swift
/// let (model, error): (T?, (any Error)?) = ParsingHelpers.parseModel { (type: Record.Type) in
///   type.init(data)
/// }
/// completion(model, error)
/// ```
/// - Note: Any thread may use it.
public enum ParsingHelpers {
  /// Has a model decoded as a type that is known to be decodable at run time only.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - decode: Gets the type as a decodable one; returns a value of it.
  /// - Returns: The model.
  /// - Throws: ``DataProviderError`` `notCodable` if the type is not `Decodable`, `wrongType` if
  ///   `decode` returns another type; what `decode` throws.
  public static func decodeModel<T: SimpleModel>(
    as type: T.Type = T.self,
    _ decode: (any (SimpleModel & Decodable).Type) throws -> any SimpleModel
  ) throws -> T {
    try checked(try decode(try decodable(type)))
  }

  /// Has a collection decoded, one element after another, as a type that is known to be decodable at
  /// run time only.
  ///
  /// - Parameters:
  ///   - items: What the elements are decoded from, in order.
  ///   - type: Their type.
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

  /// Has a model made through a class that all models of a cache have in common.
  ///
  /// - Parameter parse: Gets `T` as a subclass of `U`; returns an instance of it, or `nil` if there is
  ///   none. What it throws is returned.
  /// - Returns: The model, or an error: that of `parse`; ``DataProviderError`` `wrongType` if `T` is no
  ///   `U`, or the instance no `T`.
  public static func parseModel<T: SimpleModel, U>(
    _ parse: (U.Type) throws -> U?
  ) -> (T?, (any Error)?) {
    answer { try parse(try subclass(T.self)).map { try checked($0) } }
  }

  /// Has a collection made through a class that all models of a cache have in common.
  ///
  /// - Parameter parse: Gets `T` as a subclass of `U`; returns instances of it, or `nil` if there is no
  ///   such collection. What it throws is returned.
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
      "is not a \(U.self), which all models of this cache have to be")
  }

  private static func checked<T>(_ model: Any) throws -> T {
    if let model = model as? T { return model }
    throw DataProviderError(
      .wrongType, String(describing: T.self),
      "was asked for, and a \(type(of: model)) was made")
  }
}
