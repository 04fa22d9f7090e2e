package import PandoConsistency
import PandoSystem

/// A staged change that is not shown yet.
package protocol PipelineStep {
  /// True if there is a change to publish.
  var isVisible: Bool { get }
  /// Publishes the change; the publishing lock is held for writing.
  func publish()
  /// Queues the notifications of the change.
  func tell()
}

extension Pipeline {
  /// Publishes all steps under one lock, then queues their notifications.
  ///
  /// Called on the pipeline.
  package func publish(_ steps: [any PipelineStep]) {
    if steps.contains(where: { $0.isVisible }) {
      publishing.writing { for step in steps { step.publish() } }
    }
    for step in steps { step.tell() }
  }

  /// Stages and publishes steps if no reader of several views runs, then queues their notifications.
  ///
  /// - Returns: `false` if a reader runs; then nothing is staged.
  func publishAtOnce(_ stage: () -> [any PipelineStep]) -> Bool {
    let steps = publishing.writingIfFree {
      let steps = stage()
      for step in steps { step.publish() }
      return steps
    }
    guard let steps else { return false }
    for step in steps { step.tell() }
    return true
  }
}

/// A staged update of a manager's live trees.
final class LiveStep: PipelineStep {
  private let scope: PipelineScope
  private let staged: StagedUpdate
  private let afterTelling: () -> Void

  /// Stages an update; it must be published before the next one is staged.
  init(_ update: LiveUpdate, _ scope: PipelineScope, afterTelling: @escaping () -> Void = {}) {
    self.scope = scope
    self.afterTelling = afterTelling
    staged = scope.stage(update)
  }

  var isVisible: Bool { !staged.isEmpty }
  func publish() { staged.publish() }

  func tell() {
    scope.tell(staged)
    afterTelling()
  }
}
