/// One call that fails.
struct Fault: CustomStringConvertible {
  /// `open`, `write`, `sync`, `truncate`, `mmap` or `allocate`.
  let call: String
  /// The error that it fails with; see `torture_faults.c`.
  let error: String
  /// How many calls in a row fail, 0 for all that follow.
  let count: Int
  /// The first call that fails, counted from 1.
  var position = 1

  /// The value of the variable that the preloaded library reads.
  var variable: String { "\(call):\(position):\(count):\(error)" }

  var description: String {
    "\(call) \(position) with \(error)\(count == 0 ? " for good" : count == 1 ? "" : " \(count) times")"
  }

  /// Whether calls work again after some that failed.
  var isTransient: Bool { count > 0 }

  /// The codes of the error that the system reported: one of them must be thrown.
  var codes: Set<String> {
    switch error {
    case "ENOSPC": ["28"]
    case "EINTR": ["4"]
    case "EMFILE": ["24"]
    case "ENOMEM": ["12"]
    // liblmdb takes a short write for an error of the disk, and for a full one in a new file.
    case "SHORT": ["5", "28"]
    default: ["5"]
    }
  }

  /// Every kind of fault; a signal interrupts a few calls in a row and never all that follow.
  static let kinds: [Fault] = {
    let errors = [
      ("open", ["EIO", "ENOSPC", "EMFILE", "EINTR"]),
      ("write", ["ENOSPC", "EIO", "AFTER", "SHORT", "EINTR"]),
      ("sync", ["EIO", "ENOSPC", "AFTER", "EINTR"]),
      ("truncate", ["ENOSPC", "EIO", "EINTR"]),
      ("mmap", ["ENOMEM"]),
      ("allocate", ["ENOSPC", "EIO", "EINTR"]),
    ]
    return errors.flatMap { call, errors in
      errors.flatMap { error in
        (error == "EINTR" ? [1, 5] : [1, 2, 0]).map { Fault(call: call, error: error, count: $0) }
      }
    }
  }()
}
