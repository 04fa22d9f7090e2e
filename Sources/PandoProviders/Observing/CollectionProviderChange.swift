public import PandoModels

/// A committed change of a list, as an element of an asynchronous sequence.
///
/// ```swift
/// for try await step in contacts.changes {
///   print(step.data.count, step.change, step.context as Any)
/// }
/// ```
/// Use `values` instead of `changes` if neither the change nor the context is needed.
public struct CollectionProviderChange<T: SimpleModel>: Sendable {
  /// The list after the change.
  public let data: [T]
  /// The change from the observer's previous list to this one.
  ///
  /// In the first element of an iteration it is `reset`. A slow observer gets several commits as
  /// one change, which leads exactly from its previous list to this one.
  public let change: CollectionChange
  /// The context that the writer passed; that of the newest commit if there were several.
  ///
  /// `nil` in the first element of an iteration.
  public let context: (any Sendable)?
}
