public import PandoModels

extension ProviderSnapshot {
  /// Returns the committed elements of a provider.
  ///
  /// What is not committed yet does not show, and a pause does not count.
  ///
  /// - Parameter provider: A provider of the manager.
  /// - Returns: Its elements.
  public func data<T: SimpleModel>(of provider: CollectionDataProvider<T>) -> [T] {
    provider.seen { $0.committed(of: $1) }.models
  }
}
