/// Lets whoever maps a model say that a child stays as it is.
///
/// A closure that is given to `map(_:)` can only return a model, and models can't be compared cheaply.
/// With this, a model whose children all stay need not be made anew from its coding.
package final class MapWatch: @unchecked Sendable {
  // Sendable because it is used by the task that set it only, during one synchronous call.

  @TaskLocal package static var current: MapWatch?

  /// Set by the closure just before it returns: whether it returns the child as it is.
  ///
  /// The closure maps other models meanwhile, whose children set it too.
  package var keepsChild = false

  package init() {}
}
