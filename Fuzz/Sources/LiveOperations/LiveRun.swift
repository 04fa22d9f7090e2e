import Pando

/// One run: calls without waiting from one or several tasks, and a comparison whenever all is quiet.
public enum LiveRun {
  /// Runs once.
  ///
  /// - Parameters:
  ///   - settings: The settings of the run.
  ///   - choices: The source of the calls.
  ///   - path: Where a store may be made; nothing is there.
  /// - Returns: How many calls were made.
  /// - Throws: ``LiveFinding`` if a state is not the expected one; the error of a call.
  public static func perform(
    _ settings: LiveSettings, _ choices: Choices, path: String
  ) async throws -> Int {
    let ledger = Ledger(trace: settings.trace)
    return try await Watchdog.watching(ledger) {
      let managers = try await run(settings, choices, path, ledger)
      // A closed manager is released, whatever was under way; one that a job still holds is no leak.
      await ledger.awaiting("closed managers to go") {
        while managers.contains(where: { $0.manager != nil }) { await Task.yield() }
      }
      try ledger.throwFinding()
      return ledger.stepCount
    }
  }

  private struct WeakManager {
    weak let manager: DataModelManager?
  }

  /// - Returns: The managers, which this run no longer retains.
  private static func run(
    _ settings: LiveSettings, _ choices: Choices, _ path: String, _ ledger: Ledger
  ) async throws -> [WeakManager] {
    let world = try await LiveWorld(settings, path: path, ledger)
    do {
      try await perform(choices, in: world)
    } catch {
      await world.close()
      throw error
    }
    await world.close()
    return world.managers.map { WeakManager(manager: $0) }
  }

  private static func perform(_ choices: Choices, in world: LiveWorld) async throws {
    var actors: [LiveActor] = []
    for (task, share) in choices.split(world.settings.taskCount).enumerated() {
      actors.append(try await LiveActor(task, world, share))
    }
    for _ in 0..<world.settings.roundCount {
      try await withThrowingTaskGroup { group in
        for actor in actors { group.addTask { try await actor.perform() } }
        try await group.waitForAll()
      }
      for actor in actors { try await actor.finishRound() }
      await world.drain()
      var taint = Taint()
      for actor in actors {
        try actor.checkRest()
        taint.formUnion(actor.naive.taint)
      }
      try await world.checkRest(taint)
      if actors.allSatisfy({ $0.choices.isExhausted }) { break }
    }
  }
}
