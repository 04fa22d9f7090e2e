extension ModelStore {
  /// Whether its configuration has due migrations.
  package var hasDueMigrations: Bool { get throws { try Migrator(core).hasDue } }
}

extension ModelTransaction {
  /// Runs the due migrations as a part of a write.
  package func runDueMigrations() throws { try Migrator(session.core).runDue(session) }
}
