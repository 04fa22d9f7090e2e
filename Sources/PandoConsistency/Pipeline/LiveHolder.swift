package import PandoModels

/// The number of one live tree in its holder.
///
/// A collection has one for each element. A listener or a provider of one model has row 0; the
/// provider also has row 1 while it waits for an identifier.
package typealias LiveRow = UInt32

/// The owner of live trees: a listener, a provider or a shared collection, as seen by the manager.
///
/// The manager retains a registered holder. The holder has a weak reference to its listener or
/// provider. After that is released, the holder is removed.
package protocol LiveHolder: AnyObject, Sendable {
  /// The number that the manager gave to the holder, in the order of registration.
  var number: UInt64 { get }

  /// Reads the state outside the manager on which the trees depend.
  ///
  /// Called on the pipeline for all affected holders before the first one is staged. The default implementation does nothing.
  func prepare()

  /// Returns the registered tree of a row, to decide if an update changes it.
  ///
  /// Called on the pipeline, only for rows that the holder updates by
  /// ``PipelineScope/regenerate(_:of:row:)`` and ``PipelineScope/register(_:row:_:)``.
  ///
  /// - Parameter row: A registered row.
  /// - Returns: `nil` if the holder does not keep its trees; this is the default.
  func tree(ofRow row: LiveRow) -> (any SimpleModel)?

  /// Returns the committed trees of some rows, for trees that join the live ones.
  ///
  /// Called on the pipeline. The default implementation uses ``tree(ofRow:)``.
  ///
  /// - Parameters:
  ///   - rows: Registered rows, in ascending order.
  ///   - asksListeners: True if a listener's own code may run.
  /// - Returns: The trees found, in any order.
  func liveTrees(ofRows rows: [LiveRow], asksListeners: Bool) -> [any SimpleModel]

  /// Stages the changes of an update to the trees, without showing them.
  ///
  /// Called on the pipeline, also for the holder of the update's operation, and for subscribers of its
  /// topics. A topic is the cache key of a list.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - rows: The trees with an identifier of the update, in ascending order, each once.
  ///   - scope: Regenerates trees and updates the registry; valid during this call only.
  /// - Returns: The change to publish. `nil` if there is none, or if it was added to
  ///   ``PipelineScope/group``.
  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)?
}

extension LiveHolder {
  package func prepare() {}

  package func tree(ofRow row: LiveRow) -> (any SimpleModel)? { nil }

  package func liveTrees(ofRows rows: [LiveRow], asksListeners: Bool) -> [any SimpleModel] {
    rows.compactMap(tree)
  }
}
