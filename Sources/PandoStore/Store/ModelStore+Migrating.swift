extension ModelStore {
  /// Whether its configuration has migrations that the store has not seen.
  package var hasDueMigrations: Bool { get throws { try Migrator(core).hasDue } }
}

extension ModelTransaction {
  /// Runs the migrations that the store has not seen, as part of a write.
  package func runDueMigrations() throws { try Migrator(session.core).runDue(session) }
}
