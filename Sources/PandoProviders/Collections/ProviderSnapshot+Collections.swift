public import PandoModels

extension ProviderSnapshot {
  /// Returns the committed elements of a provider.
  ///
  /// The result has no uncommitted changes, and is not affected by a pause.
  ///
  /// - Parameter provider: A provider of the manager.
  /// - Returns: Its elements.
  public func data<T: SimpleModel>(of provider: CollectionDataProvider<T>) -> [T] {
    provider.seen { $0.committed(of: $1) }.models
  }
}
