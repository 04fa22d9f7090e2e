import PandoLMDB
public import PandoStore

extension ModelStore.Configuration {
  /// A small map without flushes: a test does not survive a power cut anyway.
  public static var forTests: Self {
    var configuration = Self()
    configuration.mapSizeInBytes = 16 << 20
    configuration.maximumMapSizeInBytes = 1 << 30
    configuration.durability = .unsynchronized
    return configuration
  }
}
