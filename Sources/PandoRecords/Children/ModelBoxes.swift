package import PandoModels

/// Converts the box of a model between protocols.
///
/// A conversion by the language makes a new box and copies the model into it. One to `Model` also
/// looks up the conformance each time. This type keeps the box and exchanges only its conformance.
/// Swift does not specify the layout of boxes, so the first use checks it, and otherwise uses the
/// language's conversions.
package enum ModelBoxes {
  /// Whether boxes can be shared, because their layout is the expected one.
  package static let canShare = unsafe BoxLayout.isExpected()

  // `as any` prevents the compiler from unpacking the boxes in calls.

  /// The same model as a `SimpleModel`.
  ///
  /// - Parameters:
  ///   - model: A model.
  ///   - sharing: Whether both share one box.
  /// - Returns: The model.
  package static func simple(
    _ model: any Model, sharing: Bool = canShare
  ) -> any SimpleModel {
    guard sharing else { return model }
    let type: any SimpleModel.Type = Swift.type(of: model)
    // Both containers have one conformance each; the model lives until the end of the call.
    var container = unsafe BoxLayout(model)
    unsafe container.conformance = BoxLayout.TypeLayout(type).conformance
    defer { extendLifetime(model) }
    return unsafe unsafeBitCast(container, to: (any SimpleModel).self)
  }

  /// The same model as a `Model`.
  ///
  /// - Parameters:
  ///   - model: A model.
  ///   - type: Its type.
  ///   - sharing: Whether both share one box.
  /// - Returns: The model.
  package static func model(
    _ model: any SimpleModel, _ type: any Model.Type, sharing: Bool = canShare
  ) -> any Model {
    precondition(Swift.type(of: model) == type, "a model of another type")
    guard sharing else { return copy(model, type) }
    // As above.
    var container = unsafe BoxLayout(model)
    unsafe container.conformance = BoxLayout.TypeLayout(type).conformance
    defer { extendLifetime(model) }
    return unsafe unsafeBitCast(container, to: (any Model).self)
  }

  /// The model in a new box.
  private static func copy<Value: SimpleModel>(
    _ model: Value, _ type: any Model.Type
  ) -> any Model {
    func box<Known: Model>(_ type: Known.Type) -> any Model {
      // The caller has checked that `Value` and `Known` are the same type.
      unsafe unsafeBitCast(model, to: Known.self)
    }
    return box(type)
  }

  /// A type as a `Model` type, if it conforms.
  ///
  /// A table lookup, which is ten times faster than a cast.
  ///
  /// - Parameter type: Any type of models.
  /// - Returns: `nil` if it does not conform.
  package static func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    unsafe TypeTable.traits(of: type).pointee.model
  }
}

/// An existential container of a protocol without class constraint: the model or its box, the type,
/// and the conformance.
@unsafe private struct BoxLayout {
  var buffer: (UInt, UInt, UInt)
  var type: UInt
  var conformance: UInt

  /// An existential metatype.
  @unsafe struct TypeLayout {
    var type: UInt
    var conformance: UInt

    init(_ type: any Model.Type) {
      unsafe self = unsafeBitCast(type as any Model.Type, to: TypeLayout.self)
    }

    init(_ type: any SimpleModel.Type) {
      unsafe self = unsafeBitCast(type as any SimpleModel.Type, to: TypeLayout.self)
    }
  }

  init(_ model: any Model) {
    unsafe self = unsafeBitCast(model as any Model, to: BoxLayout.self)
  }

  init(_ model: any SimpleModel) {
    unsafe self = unsafeBitCast(model as any SimpleModel, to: BoxLayout.self)
  }

  /// Whether both are the same box, or have the same bytes.
  func isSame(as other: BoxLayout, isBoxed: Bool) -> Bool {
    guard unsafe type == other.type, unsafe buffer.0 == other.buffer.0 else { return false }
    // A box uses one word of the buffer; the others are undefined.
    return unsafe isBoxed || (buffer.1 == other.buffer.1 && buffer.2 == other.buffer.2)
  }

  /// Whether Swift uses this layout of boxes.
  static func isExpected() -> Bool {
    let size = unsafe MemoryLayout<BoxLayout>.size
    let typeSize = unsafe MemoryLayout<TypeLayout>.size
    guard MemoryLayout<any Model>.size == size, MemoryLayout<any SimpleModel>.size == size,
      MemoryLayout<any Model.Type>.size == typeSize,
      MemoryLayout<any SimpleModel.Type>.size == typeSize
    else { return false }
    let small = SmallModel(first: 1, second: 2, third: 3)
    let other = SmallModel(first: 4, second: 2, third: 3)
    return unsafe isExpected(of: small, other, inBox: false)
      && isExpected(of: LargeModel(parts: small), LargeModel(parts: other), inBox: true)
  }

  /// Compares words with the properties of a model; none is used as an address.
  private static func isExpected<M: Model>(
    of value: M, _ otherValue: M, inBox isBoxed: Bool
  ) -> Bool {
    let (model, other) = unsafe (boxed(value), boxed(otherValue))
    let simple = unsafe simplyBoxed(value)
    let copy = model
    defer { extendLifetime((model, other, copy, simple)) }
    let layout = unsafe BoxLayout(model)
    let simpleLayout = unsafe BoxLayout(simple)
    let type = unsafe TypeLayout(M.self as any Model.Type)
    let simpleType = unsafe TypeLayout(M.self as any SimpleModel.Type)
    let identity = UInt(bitPattern: ObjectIdentifier(M.self))
    return unsafe layout.type == identity && simpleLayout.type == identity
      && type.type == identity && simpleType.type == identity
      && layout.conformance == type.conformance
      && simpleLayout.conformance == simpleType.conformance
      && type.conformance != simpleType.conformance
      && layout.isSame(as: BoxLayout(copy), isBoxed: isBoxed)
      && !layout.isSame(as: BoxLayout(other), isBoxed: isBoxed)
      && (isBoxed || layout.buffer == (1, 2, 3))
  }

  // Not inlined, so that the optimizer does not see through the boxes and make new ones.

  @inline(never)
  private static func boxed<M: Model>(_ model: M) -> any Model { model }

  @inline(never)
  private static func simplyBoxed<M: Model>(_ model: M) -> any SimpleModel { model }

  /// A model that fits into the container.
  private struct SmallModel: Model, Equatable {
    let first, second, third: UInt
    var modelIdentifier: String? { nil }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
  }

  /// A model that does not fit.
  private struct LargeModel: Model, Equatable {
    let parts: SmallModel
    let rest: UInt = 4
    var modelIdentifier: String? { nil }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
  }
}
