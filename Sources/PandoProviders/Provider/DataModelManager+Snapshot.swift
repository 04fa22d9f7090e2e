import PandoConsistency
public import PandoModels
import PandoSystem

extension DataModelManager {
  /// Reads several providers at one moment: of each change, all of them show it or none.
  ///
  /// - Parameter body: Short; changes are not published while it runs, so it must not wait for one.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public func snapshot<Result>(_ body: (ProviderSnapshot) throws -> Result) rethrows -> Result {
    try consistencyManager.pipeline.publishing.reading { try body(ProviderSnapshot()) }
  }
}

/// The committed data of all providers of a manager at one moment.
///
/// ```swift
/// let (message, people) = manager.snapshot { snapshot in
///   (snapshot.data(of: provider), snapshot.data(of: contacts))
/// }
/// ```
/// It belongs to the thread that reads: it can't leave the closure.
public struct ProviderSnapshot: ~Escapable {
  @_lifetime(immortal)
  init() {}
}

extension ProviderSnapshot {
  /// Returns the committed data of a provider.
  ///
  /// What the provider has set itself and is not committed does not show, and a pause does not count.
  ///
  /// - Parameter provider: A provider of the manager.
  /// - Returns: Its model, or `nil` if there is none.
  public func data<T: SimpleModel>(of provider: DataProvider<T>) -> T? {
    provider.holder.committed.flatMap(DataProvider<T>.unbox)
  }
}
