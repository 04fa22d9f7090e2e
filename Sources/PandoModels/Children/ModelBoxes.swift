/// Lets one box of a model be known under another protocol.
///
/// A conversion by the language makes a new box and copies the model into it, and one to ``Model`` looks
/// the conformance up each time.
package enum ModelBoxes {
  /// An existential value of a protocol that is not confined to classes: the model or its box, the type,
  /// and how the type conforms.
  private struct Container {
    var buffer: (UInt, UInt, UInt)
    var type: UInt
    var conformance: UInt
  }

  /// An existential metatype.
  private struct TypeContainer {
    var type: UInt
    var conformance: UInt
  }

  // `as any` keeps the compiler from unpacking the boxes when they are passed on.

  /// The same model, known as a simple one.
  package static func simple(_ model: any Model) -> any SimpleModel {
    let type: any SimpleModel.Type = Swift.type(of: model)
    // Both protocols have one conformance in their containers; the model lives to the end of the call.
    var container = unsafe unsafeBitCast(model as any Model, to: Container.self)
    container.conformance = unsafe unsafeBitCast(
      type as any SimpleModel.Type, to: TypeContainer.self
    ).conformance
    defer { extendLifetime(model) }
    return unsafe unsafeBitCast(container, to: (any SimpleModel).self)
  }

  /// The same model, known as one that can hold others.
  ///
  /// - Parameters:
  ///   - model: A model.
  ///   - type: Its type.
  /// - Returns: The model.
  package static func model(_ model: any SimpleModel, _ type: any Model.Type) -> any Model {
    precondition(Swift.type(of: model) == type, "a model of another type")
    var container = unsafe unsafeBitCast(model as any SimpleModel, to: Container.self)
    container.conformance = unsafe unsafeBitCast(type as any Model.Type, to: TypeContainer.self)
      .conformance
    defer { extendLifetime(model) }
    return unsafe unsafeBitCast(container, to: (any Model).self)
  }

  /// A type as one whose models can hold others.
  ///
  /// It is looked up in a table, where a cast takes ten times as long.
  ///
  /// - Parameter type: Any type of models.
  /// - Returns: `nil` if they can't.
  package static func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    unsafe TypeTable.traits(of: type).pointee.model
  }

  /// Whether two models are one: the same box, or the same bytes.
  ///
  /// - Returns: `false` also for some that are, if they are small.
  package static func areSame(_ left: any Model, _ right: any Model) -> Bool {
    let isBoxed = isLarge(left)
    let left = unsafe unsafeBitCast(left as any Model, to: Container.self)
    let right = unsafe unsafeBitCast(right as any Model, to: Container.self)
    guard left.type == right.type, left.buffer.0 == right.buffer.0 else { return false }
    // A box takes one word of the buffer, and the others are anything.
    return isBoxed || (left.buffer.1 == right.buffer.1 && left.buffer.2 == right.buffer.2)
  }

  /// Whether a model does not fit where the container has room for a small one.
  private static func isLarge<M: Model>(_ model: M) -> Bool {
    MemoryLayout<M>.size > MemoryLayout<(UInt, UInt, UInt)>.size
  }
}
