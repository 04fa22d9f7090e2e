import PandoModels
import PandoRecords
import PandoStore

/// Imports JSON into a store: parses, splits, writes and counts.
struct Importer {
  let mapping: ImportMapping
  let collection: String?
  let keepsGoing: Bool
  var splitter: TreeSplitter
  var counts = ImportReport.Counts()
  let startedAt = ContinuousClock.now

  /// Makes an importer for one input.
  ///
  /// - Parameters:
  ///   - mapping: The rules that make nodes of the input; the importer stores them.
  ///   - collection: The collection to append the trees to, if any.
  ///   - isStrict: Whether data outside every node is an error.
  ///   - keepsGoing: Whether to skip bad lines.
  init(_ mapping: ImportMapping, collection: String?, isStrict: Bool, keepsGoing: Bool) {
    self.mapping = mapping
    self.collection = collection
    self.keepsGoing = keepsGoing
    splitter = TreeSplitter(mapping, isStrict: isStrict)
  }

  /// Parses an input as one JSON document.
  ///
  /// - Throws: A bad-input error with the position in the document.
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
      let write = ImportWrite(
        trees: trees, collection: collection, mapping: mapping,
        repeatsNodes: splitter.findings.repeatsNodes)
      count(try await write.commit(to: store) { bar.advance(to: $0) })
    } catch {
      throw CommandError(wrapping: error).placed(in: input.name).advising("nothing was imported")
    }
    counts.treeCount = trees.count
  }

  /// Returns a report of the import, with figures from the store.
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

  /// Counts the changes of commits.
  mutating func count(_ outcome: ImportWrite.Outcome) {
    counts.commitCount += outcome.commitCount
    counts.insertedCount += outcome.insertedCount
    counts.updatedCount += outcome.updatedCount
  }
}

extension Importer {
  /// The maximum number of lines in one transaction.
  static let linesPerCommit = 10_000

  /// The number of bytes of lines that ends a transaction.
  ///
  /// Memory stays bounded even if lines are long.
  static let bytesPerCommit = 64 * 1024 * 1024

  /// The number of bad lines to print; further ones are only counted.
  static let reportedLineCount = 20

  /// The trees of some lines, to be written in one transaction, unless the store refuses some.
  private struct Batch: Sendable {
    var write: ImportWrite
    var lineCount = 0
    var lastLine = 0
    var byteCount = 0
  }

  /// Imports an input line by line, and reads the next batch while it writes one.
  ///
  /// - Throws: A ``CommandError`` that names the bad line and the last line kept.
  mutating func importLines(of input: Input, into store: ModelStore) async throws {
    var reader = LineReader(input)
    let bar = ProgressBar(
      "importing \(input.name)", counting: input.byteCount == nil ? "lines" : "bytes",
      of: input.byteCount)
    defer { bar.clear() }
    var lastLineKept = 0
    var writing: (batch: Batch, task: Task<ImportWrite.Outcome, any Error>)?
    do {
      repeat {
        let next = Result { try readBatch(from: &reader, input, bar) }
        if let (batch, task) = writing {
          let outcome = try await task.value
          count(outcome)
          for refusal in outcome.refusals {
            skip(refusal.error.placed(in: "line \(refusal.line)"), of: input, bar)
          }
          lastLineKept = batch.lastLine
          counts.treeCount += batch.write.trees.count - outcome.refusals.count
          counts.lineCount += batch.lineCount
        }
        let batch = try next.get()
        // An input without lines still stores its mapping.
        let isDone = batch.lineCount == 0 && counts.commitCount > 0
        writing = isDone ? nil : (batch, Task { try await batch.write.commit(to: store) })
        splitter.forgetNodes()
      } while writing != nil
    } catch {
      throw CommandError(wrapping: error).placed(in: input.name).advising(
        lastLineKept == 0 ? "nothing was imported" : "lines 1 to \(lastLineKept) are kept")
    }
  }

  /// Reads and splits lines until a transaction is full or the input ends.
  private mutating func readBatch(
    from reader: inout LineReader, _ input: Input, _ bar: ProgressBar
  ) throws -> Batch {
    var batch = Batch(
      write: ImportWrite(collection: collection, mapping: mapping, skipsRefused: keepsGoing))
    while batch.lineCount < Importer.linesPerCommit, batch.byteCount < Importer.bytesPerCommit,
      let line = try reader.next()
    {
      batch.lineCount += 1
      batch.lastLine = reader.lineNumber
      batch.byteCount += line.count
      do throws(CommandError) {
        let trees = try trees(inLine: line, number: reader.lineNumber)
        batch.write.trees += trees
        batch.write.lines += repeatElement(reader.lineNumber, count: trees.count)
      } catch {
        guard keepsGoing else { throw error }
        skip(error, of: input, bar)
      }
      bar.advance(to: input.byteCount == nil ? reader.lineNumber : reader.byteCount)
    }
    batch.write.repeatsNodes = splitter.findings.repeatsNodes
    return batch
  }

  private mutating func trees(
    inLine line: [UInt8], number: Int
  ) throws(CommandError) -> [TreeNode] {
    guard line.contains(where: { !JSONSpace.contains($0) }) else { return [] }
    let value: TreeValue
    do {
      value = try TreeValue(json: line.span)
    } catch {
      throw CommandError(
        .badInput, at: "line \(number), column \(error.column)", "not JSON: \(error.reason)",
        remedy: "correct the line, or skip bad lines with --keep-going")
    }
    do {
      return try splitter.trees(in: value)
    } catch {
      throw error.placed(in: "line \(number)")
    }
  }

  /// Counts a bad line, and prints it below the limit.
  private mutating func skip(_ error: CommandError, of input: Input, _ bar: ProgressBar) {
    counts.skippedLineCount += 1
    guard counts.skippedLineCount <= Importer.reportedLineCount else { return }
    bar.clear()
    var shown = CommandError(error.exitCode, at: error.place, error.reason, remedy: "skipped")
      .placed(in: input.name)
    if counts.skippedLineCount == Importer.reportedLineCount {
      shown.remedy += "; further bad lines are only counted"
    }
    StandardError.line(shown.line(for: "pando import"))
  }
}

/// The white space of JSON.
private let JSONSpace: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
