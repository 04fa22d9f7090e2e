import FoundationEssentials
import PandoModels

extension QueuedRequest: Codable {
  /// Decodes the request.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    id = try row.get("id")
    token = try row.get("token")
    client = try row.get("client")
    request = try row.get("request")
    subjects = try row.get("subjects")
    makes = try row.get("makes")
    related = try row.find("related")
    inside = try row.find("inside")
    handler = try row.find("handler")
    note = try row.find("note")
    // Earlier versions write no history, and ignore one.
    commitNumber = CommitNumber(
      value: try row.get("commitNumber"), history: try row.find("history") ?? 0)
    date = try row.get("date")
    state = try row.get("state")
    attemptCount = try row.get("attemptCount")
    secondsWaited = try row.find("secondsWaited") ?? 0
    lastFailure = try row.find("lastFailure")
    undo = try row.find("undo")
    sent = try row.find("sent")
    isUndone = try row.find("isUndone") ?? false
    isOutdated = try row.find("isOutdated") ?? false
  }

  /// Encodes the request.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(id, forKey: TextKey("id"))
    try row.encode(token, forKey: TextKey("token"))
    try row.encode(client, forKey: TextKey("client"))
    try row.encode(request, forKey: TextKey("request"))
    try row.encode(subjects, forKey: TextKey("subjects"))
    try row.encode(makes, forKey: TextKey("makes"))
    try row.encodeIfPresent(related, forKey: TextKey("related"))
    try row.encodeIfPresent(inside, forKey: TextKey("inside"))
    try row.encodeIfPresent(handler, forKey: TextKey("handler"))
    try row.encodeIfPresent(note, forKey: TextKey("note"))
    try row.encode(commitNumber.value, forKey: TextKey("commitNumber"))
    if commitNumber.history != 0 {
      try row.encode(commitNumber.history, forKey: TextKey("history"))
    }
    try row.encode(date, forKey: TextKey("date"))
    try row.encode(state, forKey: TextKey("state"))
    try row.encode(attemptCount, forKey: TextKey("attemptCount"))
    if secondsWaited > 0 { try row.encode(secondsWaited, forKey: TextKey("secondsWaited")) }
    try row.encodeIfPresent(lastFailure, forKey: TextKey("lastFailure"))
    try row.encodeIfPresent(undo, forKey: TextKey("undo"))
    try row.encodeIfPresent(sent, forKey: TextKey("sent"))
    if isUndone { try row.encode(true, forKey: TextKey("isUndone")) }
    if isOutdated { try row.encode(true, forKey: TextKey("isOutdated")) }
  }
}
