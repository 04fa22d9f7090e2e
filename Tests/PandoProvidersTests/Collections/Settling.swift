import PandoConsistency
import PandoFixtures
import PandoModels

@testable import PandoProviders

extension DataModelManager {
  /// Waits until all that is queued in memory has been worked out and told.
  func settle() {
    let done = Event()
    let deliverer = consistencyManager.deliverer
    consistencyManager.enqueue { _ in deliverer.enqueue { done.signal() } }
    done.wait()
  }

  /// Runs something where delegates are called.
  func onDelivery(_ body: @escaping @Sendable () -> Void) {
    let done = Event()
    consistencyManager.deliverer.enqueue {
      body()
      done.signal()
    }
    done.wait()
  }

  /// Changes models everywhere, in memory only.
  func publish(_ models: any SimpleModel..., context: (any Sendable)? = nil) {
    consistencyManager.enqueue(LiveUpdate(setting: models, context: context))
    settle()
  }

  /// Deletes nodes everywhere, in memory only.
  func erase(_ identifiers: String..., context: (any Sendable)? = nil) {
    consistencyManager.enqueue(LiveUpdate(deleting: identifiers, context: context))
    settle()
  }
}
