import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Refused writes behind a write whose answer has another value than the request.
@Suite struct ChangedAnswerTests {
  private let id = EntityIdentifier<RefusedJob>.remote("1")

  /// A server that answers a request when the test says so, and gives each accepted job another step.
  private final class Server: Sendable {
    let job = Locked(RefusedJob.numbered("1", "old"))
    private let count = Locked(0)
    private let refused: Set<Int>
    private let gates = (0..<3).map { _ in AsyncStream<Void>.makeStream() }

    init(refusing refused: Set<Int>) { self.refused = refused }

    func answer(_ request: APIRequest) async throws -> APIResponse {
      if request.method == .get { return try response(job.withLock { $0 }) }
      let number = count.withLock { count in
        defer { count += 1 }
        return count
      }
      for await _ in gates[number].stream {}
      if refused.contains(number) { return APIResponse(status: 422) }
      var sent = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
      sent.step = 100 * (number + 1)
      job.withLock { [sent] in $0 = sent }
      return try response(sent)
    }

    private func response(_ job: RefusedJob) throws -> APIResponse {
      APIResponse(status: 200, body: try JSONEncoder().encode(job))
    }

    func open(_ number: Int) { gates[number].continuation.finish() }
  }

  /// The undo of the second write, which equals the stored job, restored the step that the first one has sent.
  ///
  /// Capital letters queue the writes, small ones wait for their answers.
  @Test(
    arguments: ["ABCabc", "ABaCbc", "ABabCc", "AaBCbc", "AaBbCc"],
    [[1, 2], [1], [2], []] as [Set<Int>])
  func `the job equals the one of the server after an answer with another value`(
    order: String, refused: Set<Int>
  ) async throws {
    try await RefusedJobs.run { run in
      let server = Server(refusing: refused)
      run.server.answer(.get, "/jobs/1") { try await server.answer($0) }
      run.server.answer(.put, "/jobs/1") { try await server.answer($0) }
      _ = try await run.jobs.get(byID: id, in: .remote())
      var writes: [Task<Void, any Error>] = []
      for step in order {
        let number = Int(step.lowercased().utf8.first ?? 0) - Int(UInt8(ascii: "a"))
        if step.isUppercase {
          let title = ["new", "new", "later"][number]
          let written = try await run.jobs.updateIfPresent(byID: id, in: .localAndRemote) {
            $0.title = title
          }
          writes.append(Task { _ = try await written?.confirmed() })
        } else {
          server.open(number)
          let isRefused = await writes[number].result.failure is APIError
          #expect(isRefused == refused.contains(number))
        }
      }
      #expect(try await run.jobs.get(byID: id) == server.job.withLock { $0 })
      #expect(try await run.store.read { try $0.synchronizationState(of: id) } == .synced)
    }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { return failure }
    return nil
  }
}
