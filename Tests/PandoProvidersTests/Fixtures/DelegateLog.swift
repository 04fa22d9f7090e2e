import PandoModels
import PandoProviders
import PandoSystem

/// Remembers what it is told.
final class DelegateLog: DataProviderDelegate {
  struct Call: Sendable {
    let provider: ObjectIdentifier
    let data: (any SimpleModel)?
    let context: String?
  }

  private let log = Locked<[Call]>([])
  private let action: (@Sendable () -> Void)?

  init(_ action: (@Sendable () -> Void)? = nil) { self.action = action }

  var calls: [Call] { log.withLock { $0 } }
  var contexts: [String?] { calls.map(\.context) }

  /// The data that a provider had at each of its calls.
  func data<T>(_ type: T.Type = T.self) -> [T?] { calls.map { $0.data as? T } }

  func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: (any Sendable)?) {
    let call = Call(
      provider: ObjectIdentifier(dataProvider), data: dataProvider.data,
      context: context as? String)
    log.withLock { $0.append(call) }
    action?()
  }
}
