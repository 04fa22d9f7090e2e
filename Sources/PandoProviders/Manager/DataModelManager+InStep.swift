import PandoConsistency
package import PandoModels
import PandoSystem

/// Models that another component keeps in memory, shown together with those of this manager.
extension DataModelManager {
  /// A change of such models: the models that exist now, and the identifiers of the deleted ones.
  package typealias Change = (models: [any SimpleModel], deleted: [ByteString])

  /// Queues a change of such models, and a further step that is published with it.
  ///
  /// Its position in the order of all changes is fixed when this returns. A closed manager shows
  /// nothing.
  ///
  /// - Parameters:
  ///   - change: Returns the change; called on the pipeline if live data may contain the models.
  ///   - stage: Stages the further step; called on the pipeline.
  package func show(
    _ change: @escaping @Sendable () -> Change, with stage: (@Sendable () -> any PipelineStep)?
  ) {
    let consistency = consistencyManager
    isClosed.withLock { isClosed in
      // If the pipeline rests, all live data are registered.
      let isSeen = stage != nil || !consistency.pipeline.rests || consistency.isWatched
      guard !isClosed, isSeen else { return }
      consistency.enqueue { scope in
        var steps = stage.map { [$0()] } ?? []
        if consistency.isWatched {
          let change = change()
          var update = LiveUpdate(setting: change.models)
          update.deleted = Set(change.deleted)
          let step = LiveStep(update, scope)
          if step.isVisible, case .store(let bridge) = self.backing { bridge.noteOverlaid() }
          steps.append(step)
        }
        consistency.pipeline.publish(steps)
      }
    }
  }

  /// Queues work, in the same order as all changes.
  package func enqueue(_ work: @escaping @Sendable () -> Void) {
    consistencyManager.pipeline.enqueue(work)
  }

  /// Queues a callback on the delivery target.
  package func deliver(_ call: @escaping @Sendable () -> Void) {
    consistencyManager.deliverer.enqueue(call)
  }

  /// Waits until the work queued so far is shown.
  package func shown() async {
    if !consistencyManager.pipeline.rests { await consistencyManager.processed() }
  }
}
