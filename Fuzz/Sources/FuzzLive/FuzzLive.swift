import Foundation
import FuzzSupport
import LiveOperations

/// Bytes as calls on live data: providers of trees and lists, batches, core managers and followed queries
/// over a store, a cache and memory, by one or several tasks that hardly wait.
@main enum FuzzLive {
  static func main() {
    let directory = FuzzDirectory.make("fuzz-live")
    FuzzTarget.run { bytes in
      try? FileManager.default.removeItem(atPath: "\(directory)/store")
      var choices = Choices(bytes: bytes)
      var settings = LiveSettings(&choices)
      settings.isCanary = FuzzTarget.isCanary
      settings.trace = { FuzzTarget.trace($0) }
      FuzzTarget.trace("\(settings)")
      do {
        _ = try blocking { [settings, choices] in
          try await LiveRun.perform(settings, choices, path: "\(directory)/store")
        }
      } catch let finding as LiveFinding {
        // The rule that is wrong on purpose is one of the naive model's lists.
        FuzzTarget.canary(finding.isOfNaiveRows)
        FuzzTarget.fail("\(settings): \(finding)")
      } catch {
        FuzzTarget.fail("\(settings): \(error)")
      }
    }
  }
}
