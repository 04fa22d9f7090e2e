import PandoModels
import PandoStore

/// Takes JSON into a store: parses, splits, writes, and keeps count.
struct Importer {
  let mapping: ImportMapping
  let collection: String?
  let keepsGoing: Bool
  var splitter: TreeSplitter
  var counts = ImportReport.Counts()
  let startedAt = ContinuousClock.now

  /// An importer for one input.
  ///
  /// - Parameters:
  ///   - mapping: What in the input is a node; kept in the store.
  ///   - collection: The collection that the trees are appended to, if any.
  ///   - isStrict: Whether data outside every node is an error.
  ///   - keepsGoing: Whether bad lines are skipped.
  init(_ mapping: ImportMapping, collection: String?, isStrict: Bool, keepsGoing: Bool) {
    self.mapping = mapping
    self.collection = collection
    self.keepsGoing = keepsGoing
    splitter = TreeSplitter(mapping, isStrict: isStrict)
  }

  /// Reads an input as one JSON document.
  ///
  /// - Throws: A bad-input error with the place in the document.
  mutating func trees(in input: Input) throws(CommandError) -> [TreeNode] {
    let bytes = try input.readAll()
    do {
      return try splitter.trees(in: try TreeValue(json: bytes.span))
    } catch let error as JSONError where error.isAfterValue && error.line > 1 {
      throw CommandError(wrapping: error).placed(in: input.name)
        .advising("add --lines if each line is a value of its own").advising("nothing was imported")
    } catch {
      throw CommandError(wrapping: error).placed(in: input.name)
        .advising("nothing was imported")
    }
  }

  /// Writes trees in one transaction.
  mutating func store(
    _ trees: [TreeNode], of input: Input, into store: ModelStore
  ) async throws {
    let bar = ProgressBar("importing \(input.name)", counting: "trees", of: trees.count)
    defer { bar.clear() }
    do {
      let write = ImportWrite(trees: trees, collection: collection, mapping: mapping)
      count(try await write.commit(to: store) { bar.advance(to: $0) })
    } catch {
      throw CommandError(wrapping: error).placed(in: input.name).advising("nothing was imported")
    }
    counts.treeCount = trees.count
  }

  /// What was done, with figures from the store.
  func report(of input: Input, in store: ModelStore) throws -> ImportReport {
    var counts = counts
    counts.duration = ContinuousClock.now - startedAt
    let properties = mapping.properties.values.map(\.typeName)
    let typeNames = Set(properties + [mapping.root?.typeName].compactMap(\.self)).sorted()
    let totals = try store.read { snapshot in
      try typeNames.map { ImportReport.Total(typeName: $0, count: try snapshot.count(ofType: $0)) }
    }
    return ImportReport(
      source: input.name, counts: counts, findings: splitter.findings, totals: totals,
      collection: collection)
  }

  /// Counts what a commit changed.
  mutating func count(_ commit: ImportWrite.Commit) {
    counts.commitCount += 1
    counts.insertedCount += commit.changeSet?.inserted.count ?? 0
    counts.updatedCount += commit.changeSet?.updated.count ?? 0
  }
}
