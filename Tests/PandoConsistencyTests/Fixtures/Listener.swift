import PandoConsistency
import PandoModels
import PandoSystem

/// A listener that keeps what it is told.
final class Listener: ConsistencyManagerListener {
  struct Call: Sendable {
    let model: (any Model)?
    let updates: ModelUpdates
    let context: (any Sendable)?
  }

  private struct State {
    var model: (any Model)?
    var calls: [Call] = []
    var onRead: (@Sendable () -> Void)?
    var onCall: (@Sendable (Call) -> Void)?
  }

  private let state: Locked<State>

  init(_ model: (any Model)?) { state = Locked(State(model: model)) }

  var model: (any Model)? {
    get { state.withLock { $0.model } }
    set { state.withLock { $0.model = newValue } }
  }

  var calls: [Call] { state.withLock { $0.calls } }

  /// Runs after a call was noted, on the delivery target.
  func onCall(_ body: @escaping @Sendable (Call) -> Void) { state.withLock { $0.onCall = body } }

  /// Runs whenever the manager asks for the model.
  func onRead(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onRead = body } }

  func currentModel() -> (any Model)? {
    let (model, body) = state.withLock { ($0.model, $0.onRead) }
    body?()
    return model
  }

  func modelUpdated(
    _ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?
  ) {
    let call = Call(model: model, updates: updates, context: context)
    let body = state.withLock { state in
      state.model = model
      state.calls.append(call)
      return state.onCall
    }
    body?(call)
  }
}

extension Listener {
  func shown<Value: Model>(as type: Value.Type = Value.self) -> Value? { model as? Value }
}
