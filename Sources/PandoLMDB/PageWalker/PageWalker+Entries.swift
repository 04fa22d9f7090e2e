extension PageWalker {
  /// Calls `body` with each entry of a table, in key order, read without the map.
  ///
  /// Each page is checked before its entries are given. In a table with duplicates each value is
  /// an entry. In the main table the record of each named table is an entry too, as for liblmdb's
  /// cursors.
  ///
  /// - Parameters:
  ///   - name: The table's name, or `nil` for the main table.
  ///   - version: The version to read. Without a read transaction that protects it the error
  ///     `changedMeanwhile` can come after some entries were given.
  ///   - body: Gets key and value; their bytes last until it returns. An error it throws ends the
  ///     walk.
  /// - Throws: ``PageWalkError`` with code `noSuchTable`, `changedMeanwhile` or `damaged`; or what
  ///   `body` throws.
  /// - Complexity: Reads the main table's pages, then each page of the table once. Memory: the
  ///   largest value.
  public func forEachEntry(
    inTable name: String?, version: Version = .newest,
    _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void
  ) throws {
    let changed = PageWalkError(.changedMeanwhile, path: file.path)
    switch try begin(version, problemLimit: 1) {
    case .busy: throw changed
    case .refused(let problem):
      throw PageWalkError(.damaged, path: file.path, problem: problem)
    case .walk(let walk):
      do {
        try withoutActuallyEscaping(body) { body in
          defer { walk.visitor = nil }
          try visit(name.map { Array($0.utf8) }, in: walk, body)
        }
      } catch let stop as PageWalk.Stop {
        guard stop == .problemLimit, let problem = walk.problems.first, !walk.hasChanged else {
          throw changed
        }
        throw PageWalkError(.damaged, path: file.path, problem: problem)
      }
      if walk.hasChanged { throw changed }
    }
  }

  private func visit(
    _ name: [UInt8]?, in walk: PageWalk,
    _ body: @escaping (Span<UInt8>, Span<UInt8>) throws -> Void
  ) throws {
    walk.visitor = body
    var main = PageTree(mainOf: walk.meta)
    main.isVisited = name == nil
    try walk.walk(&main)
    guard let name else { return }
    guard var table = walk.tablesToWalk.first(where: { $0.name == name }) else {
      throw PageWalkError(.noSuchTable, path: file.path)
    }
    table.isVisited = true
    try walk.walk(&table)
  }
}
