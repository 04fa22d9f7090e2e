package import PandoModels

/// Names one live tree of a holder: a collection has one a row, everybody else has row 0.
package typealias LiveRow = UInt32

/// The owner of live trees: the part of a listener, a provider or a shared collection that the
/// consistency manager knows.
///
/// The manager holds a registered holder strongly, and the holder refers weakly to whom it serves;
/// when that one dies it has the holder removed.
package protocol LiveHolder: AnyObject, Sendable {
  /// The number that the manager gave it: smaller means registered earlier.
  var number: UInt64 { get }

  /// Reads whatever the trees depend on outside the manager.
  ///
  /// Called on the pipeline for every holder that an update concerns, before the first is staged: all
  /// are read at one moment. Does nothing by default.
  func prepare()

  /// The tree of a row as it is registered, to find out whether an update changes anything.
  ///
  /// Asked on the pipeline, only of rows whose updates were taken by
  /// ``PipelineScope/regenerate(_:of:row:)`` and ``PipelineScope/register(_:row:_:)``.
  ///
  /// - Parameter row: A registered row.
  /// - Returns: `nil`, which is the default, if it is not kept.
  func tree(ofRow row: LiveRow) -> (any SimpleModel)?

  /// The committed trees of some rows, for somebody who begins to show a part of them.
  ///
  /// Asked on the pipeline. By default those of ``tree(ofRow:)``.
  ///
  /// - Parameters:
  ///   - rows: Registered rows, in ascending order.
  ///   - asksListeners: Whether a listener's own code may be asked.
  /// - Returns: Those that are known, in any order.
  func liveTrees(ofRows rows: [LiveRow], asksListeners: Bool) -> [any SimpleModel]

  /// Works out what an update does to the trees, without showing it.
  ///
  /// Called on the pipeline, also when this holder's own operation or a topic of it is concerned.
  ///
  /// - Parameters:
  ///   - update: What happened.
  ///   - rows: The trees that hold an identifier of the update, in ascending order, each once.
  ///   - scope: Regenerates trees and keeps the registry; to be used in this call only.
  /// - Returns: What is to be published, or `nil` if nothing is, or if it was added to
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
