import CPandoLMDB
import PandoSystem

extension LMDBError: CustomStringConvertible {
  /// One line: which call failed, why, and with which values.
  public var description: String {
    let line = "\(function): \(code.explanation)"
    return detail.isEmpty ? line : "\(line): \(detail)"
  }
}

extension LMDBError.Code: CustomStringConvertible {
  /// The explanation and the number.
  public var description: String {
    "\(explanation) (\(rawValue))"
  }

  /// What the code means, in words.
  public var explanation: String {
    switch self {
    case .mapFull: "the map is full"
    case .readersFull: "every reader slot is in use"
    case .badKeySize: "a key has 1 to 511 bytes"
    case .alreadyOpen: "the file is already open in this process; share the one environment"
    case .usedAfterFork: "the environment was opened before fork; open it again in the child"
    case .closed: "the environment is closed"
    case .failedFlush:
      "an earlier commit could not be flushed to the disk; reopen the environment to write again"
    case .truncatedFile: "the file ends before its last page in use"
    case .mapInUse: "the map has to be mapped anew while a reader holds it"
    case .undecodable: "the stored bytes do not decode"
    case .readOnly: "not permitted, or the environment is read only"
    default: unsafe String(cString: mdb_strerror(rawValue))
    }
  }
}
