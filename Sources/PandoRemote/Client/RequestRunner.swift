/// Runs one attempt of a request: completes it, sends it, and throws for an answer without success.
struct RequestRunner: Sendable {
  let client: any APIClient
  let kept: KeptAnswers

  /// Sends a request once; returns an answer with success, after a 304 the kept one.
  func answer(to request: APIRequest) async throws -> APIResponse {
    do {
      try request.validate()
      let isConditional = request.method == .get && request.configuration.usesConditionalRequests
      let known = isConditional ? kept.answer(to: request) : nil
      let asked = known.map(request.unless) ?? request
      let prepared = try await client.prepareRequest(asked)
      // A request that was cancelled, for example by a logout, must not be sent after that.
      try Task.checkCancellation()
      let response = try await client.send(prepared)
      if response.status == 304, var known {
        known.isUnchanged = true
        return known
      }
      guard response.isSuccess else {
        throw APIError(
          response, to: request, payload: client.errorPayload(of: response, to: request))
      }
      if isConditional { kept.keep(response, to: request) }
      return response
    } catch let error as APIError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw APIError(.connectionLost, request, "no answer came", underlying: error)
    }
  }

  /// Sends a request once; every failure is an ``APIError``.
  func attempt(_ request: APIRequest) async throws(APIError) -> APIResponse {
    do {
      return try await answer(to: request)
    } catch {
      throw error as? APIError
        ?? APIError(.connectionLost, request, "it was cancelled", underlying: error)
    }
  }
}
