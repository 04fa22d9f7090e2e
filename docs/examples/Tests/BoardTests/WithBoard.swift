import Foundation
import FoundationNetworking
import MicroHTTP
import Pando
import PandoFixtures
import ServiceFixtures
import Testing

@testable import board

/// The data that most tests are about.
let data = SampleData(issueCount: 2_000)

/// All issues of the data, the newest first.
let allIssues = (1...data.issueCount).reversed().map(data.issue)

/// Runs `body` with a service over a store of its own with the data.
///
/// - Parameter body: Gets the service.
/// - Throws: The error of `body`.
func withBoard(_ body: (BoardService) async throws -> Void) async throws {
  let service = try BoardService(ModelStore.temporary(configuration: .forTests))
  try data.make(in: service.store)
  do {
    try await body(service)
  } catch {
    await service.close()
    throw error
  }
  await service.close()
}

/// Runs `body` with `board serve` as a process of its own, which is ended by SIGTERM afterwards.
///
/// - Parameter body: Gets the process.
/// - Throws: The error of `body`.
func withServer(_ body: (ServiceProcess) async throws -> Void) async throws {
  try await withTemporaryDirectory { directory in
    try await makeBoard(in: directory)
    let server = try await ServiceProcess(store: directory)
    do {
      try await body(server)
    } catch {
      _ = await server.terminate()
      throw error
    }
    #expect(await server.terminate() == 0)
    #expect(server.log.hasSuffix("has closed its store in order\n"), "\(server.log)")
  }
}

/// Makes a store with the data, as `board make` does.
func makeBoard(in directory: String) async throws {
  let service = try BoardService(ModelStore(path: directory, configuration: .forTests))
  try data.make(in: service.store)
  await service.close()
}

extension ServiceProcess {
  /// Starts `board serve`.
  convenience init(store directory: String) async throws {
    try await self.init("board", ["serve", "--store", directory], until: "listens on")
  }

  /// Asks, and reads the answer.
  func ask<Answer: Decodable>(
    _ path: String, as type: Answer.Type = Answer.self
  ) async throws -> Answer {
    let (response, content) = try await response("GET", path)
    try #require(response.statusCode == 200, "\(path): \(content)")
    return try JSONDecoder().decode(type, from: Data(content.utf8))
  }
}

extension BoardService {
  /// Sends a request that is answered with success, and reads the answer.
  func ask<Answer: Decodable>(
    _ request: String, _ body: String = "", as type: Answer.Type = Answer.self
  ) async throws -> Answer {
    let response = try await send(request, body)
    try #require(
      response.status < 300, "\(request): \(String(decoding: response.body, as: UTF8.self))")
    return try JSONDecoder().decode(type, from: Data(response.body))
  }
}
