import Pando

extension FanoutSuite {
  /// Over how many threads a set goes until the task that waits for it goes on.
  ///
  /// The count of sets is the only difference between sizes: what `../hops` reckons with.
  func measureHops() throws {
    let count = runner.options.scaled(smoke: 200, standard: 2_000)
    let durability = runner.options.durability(default: .unsynchronized)
    for (name, text, isStored, isHeard) in [
      ("memory", "without a store", false, false),
      ("stored", "over a store", true, false),
      ("heard", "over a store, with a delegate of another provider", true, true),
    ] {
      try measure(
        "hops-\(name)", "set of a model through a provider, awaited, \(text)",
        ["operations": count], durability: isStored ? durability : nil
      ) {
        let directory = try runner.makeDirectory()
        let models = isStored ? try PandoModels(directory, durability) : nil
        let sets = try AwaitedSets(store: models?.store, isHeard: isHeard)
        var wakeUps: WakeUps?
        var measurement = try Measurement.time(count) { latencies in
          wakeUps = try WakeUps.count(per: count) {
            try sets.set(1_000..<1_000 + count, latencies)
          }.wakeUps
          return sets.checksum
        }
        measurement.wakeUps = wakeUps
        return measurement
      }
    }
  }
}
