import PandoConsistency
public import PandoModels
import PandoSystem

extension DataModelManager {
  /// Reads several providers at one moment: each change is visible in all of them or in none.
  ///
  /// - Parameter body: A short closure. Pando publishes no changes while it runs, so it must not
  ///   wait for one.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
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
/// A snapshot belongs to the thread that runs the closure, and can't leave the closure. Use
/// `DataProvider.data` if a single provider is read.
public struct ProviderSnapshot: ~Escapable {
  @_lifetime(immortal)
  init() {}
}

extension ProviderSnapshot {
  /// Returns the committed data of a provider.
  ///
  /// The result has no uncommitted changes of the provider itself, and is not affected by a pause.
  ///
  /// - Parameter provider: A provider of the manager.
  /// - Returns: Its model; `nil` if there is none.
  public func data<T: SimpleModel>(of provider: DataProvider<T>) -> T? {
    provider.holder.committed.flatMap(DataProvider<T>.unbox)
  }
}
