package import PandoConsistency
import PandoSystem

/// Something that is worked out and not shown yet.
package protocol PipelineStep {
  /// Whether there is something to publish.
  var isVisible: Bool { get }
  /// Shows it; the publishing lock is held for writing.
  func publish()
  /// Queues what is to be told of it.
  func tell()
}

extension Pipeline {
  /// Shows all of something in one step, then queues what is to be told of it.
  ///
  /// On the pipeline.
  package func publish(_ steps: [any PipelineStep]) {
    if steps.contains(where: \.isVisible) {
      publishing.writing { for step in steps { step.publish() } }
    }
    for step in steps { step.tell() }
  }
}

/// An update of a manager's live trees that is worked out.
final class LiveStep: PipelineStep {
  private let scope: PipelineScope
  private let staged: StagedUpdate
  private let afterTelling: () -> Void

  /// Works out an update; it has to be published before the next one is staged.
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
