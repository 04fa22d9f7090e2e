import Foundation
import FuzzSupport
import Pando
import PandoLMDB

/// A valid store with bytes changed, pages exchanged, or its end cut off.
///
/// Verifying it is an error or a report, never a signal or a hang. A file reported as clean is then read
/// through LMDB, and must be the newest commit or, where the newest meta page is not one any more, the
/// one before.
@main enum FuzzStoreFile {
  static func main() throws {
    let directory = FuzzDirectory.make("fuzz-store-file")
    let original = try OriginalStore("\(directory)/original")
    let path = "\(directory)/changed"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    FuzzTarget.run { bytes in
      var edits = FileEdits(bytes)
      var file = original.file
      edits.apply(to: &file)
      let data = Data(file)
      guard (try? data.write(to: URL(fileURLWithPath: "\(path)/data.mdb"))) != nil else {
        FuzzTarget.fail("the file can't be written")
      }
      check(path, original)
    }
  }

  private static func check(_ path: String, _ original: OriginalStore) {
    let report: VerificationReport
    do {
      report = try ModelStore.verify(path: path)
    } catch {
      FuzzTarget.require(
        error is StoreError || error is LMDBError, "\(error)")
      return
    }
    guard report.isClean else {
      let isInRecords = report.problems.contains {
        !$0.subject.hasPrefix("page") && !$0.subject.hasPrefix("the file")
      }
      return FuzzTarget.canary(isInRecords)
    }
    do {
      var configuration = ModelStore.Configuration()
      configuration.isReadOnly = true
      let store = try ModelStore(path: path, configuration: configuration)
      defer { store.close() }
      let shown = try OriginalStore.content(of: store)
      if shown != original.newest, shown != original.earlier {
        let lines = shown.filter { !original.newest.contains($0) }.prefix(3)
        FuzzTarget.fail("verified, and yet another content: \(lines.joined(separator: "\n"))")
      }
    } catch {
      FuzzTarget.fail("verified, and yet not readable: \(error)")
    }
  }
}
