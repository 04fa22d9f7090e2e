import PandoConsistency
package import PandoModels
import PandoSystem

/// Models that somebody else keeps in memory, in step with those of this manager.
extension DataModelManager {
  /// A change of such models: those that are there now, and the identifiers of those that have gone.
  package typealias Change = (models: [any SimpleModel], deleted: [ByteString])

  /// Queues a change of such models, and what else is to be shown with it.
  ///
  /// Its place in the order of all changes is fixed when this returns. A closed manager shows nothing.
  ///
  /// - Parameters:
  ///   - change: Says what changes; called on the pipeline if somebody may show it.
  ///   - stage: Works out what else changes; called on the pipeline.
  package func show(
    _ change: @escaping @Sendable () -> Change, with stage: (@Sendable () -> any PipelineStep)?
  ) {
    let consistency = consistencyManager
    isClosed.withLock { isClosed in
      // While the pipeline rests, all who show something are known.
      let isSeen = stage != nil || !consistency.pipeline.rests || consistency.isWatched
      guard !isClosed, isSeen else { return }
      consistency.enqueue { scope in
        var steps = stage.map { [$0()] } ?? []
        if consistency.isWatched {
          let change = change()
          var update = LiveUpdate(setting: change.models)
          update.deleted = Set(change.deleted)
          let step = LiveStep(update, scope)
          if step.isVisible, case .store(let bridge) = self.backing { bridge.noteSetInMemory() }
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

  /// Queues a call of somebody's, where delegates are called.
  package func deliver(_ call: @escaping @Sendable () -> Void) {
    consistencyManager.deliverer.enqueue(call)
  }

  /// Waits until what is queued so far is shown.
  package func shown() async {
    if !consistencyManager.pipeline.rests { await consistencyManager.processed() }
  }
}
