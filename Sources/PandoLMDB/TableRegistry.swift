import CPandoLMDB

/// The tables an environment has opened.
struct TableRegistry {
  /// Names in the order of opening, and the number LMDB gave each; `nil` is the unnamed table.
  var opened: [(name: String?, number: MDB_dbi)] = []

  /// The number of an open table.
  func number(of name: String?) -> MDB_dbi? {
    opened.first { $0.name == name }?.number
  }
}
