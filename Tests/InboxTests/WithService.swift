import PandoFixtures
import Testing

/// Runs `body` with a service that is ended by SIGTERM afterwards, which it must do in order.
///
/// - Parameter body: Gets the service and the directory of its store.
/// - Throws: What `body` throws.
func withService(
  _ body: (ServiceProcess, String) async throws -> Void
) async throws {
  try await withTemporaryDirectory { directory in
    let service = try await ServiceProcess(directory: directory)
    do {
      try await body(service, directory)
    } catch {
      _ = try? await service.terminate()
      throw error
    }
    #expect(try await service.terminate() == 0)
    #expect(service.log.hasSuffix("has closed its store in order\n"), "\(service.log)")
  }
}
