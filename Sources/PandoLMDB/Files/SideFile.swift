import CPandoLMDB
import PandoSystem

/// Opens a file beside a data file for reading and writing, and makes it if it is absent.
///
/// A new file gets the owner, the group and the permissions of the data file, as far as this process may give
/// them: a command that root runs leaves no file that the service can't open. The owner may always read and
/// write it. A file that is there stays as it is.
///
/// - Parameters:
///   - name: The name of the file.
///   - folder: The folder of the environment.
///   - mode: The permissions of a new file where there is no data file.
/// - Returns: The open file; -1 with an error number in `errno`.
package func openBesideData(_ name: String, in folder: String, mode: UInt32) -> CInt {
  let path = "\(folder)/\(name)"
  // Another process may make or remove it in between.
  for _ in 0..<3 {
    let found = retryInterrupted { unsafe open(path, O_RDWR | O_CLOEXEC) }
    if found >= 0 || errno != ENOENT { return found }
    let made = retryInterrupted { unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
    if made >= 0 {
      followData(made, "\(folder)/\(DataFile.name)")
      return made
    }
    if errno != EEXIST { return made }
  }
  return retryInterrupted { unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode) }
}

/// Gives a new file the owner, the group and the permissions of the data file.
private func followData(_ descriptor: CInt, _ dataPath: String) {
  var (data, own) = (stat(), stat())
  guard unsafe stat(dataPath, &data) == 0, unsafe fstat(descriptor, &own) == 0 else { return }
  if data.st_uid != own.st_uid || data.st_gid != own.st_gid {
    // Who may not give files away may be in the group.
    if fchown(descriptor, data.st_uid, data.st_gid) != 0 {
      fchown(descriptor, own.st_uid, data.st_gid)
    }
  }
  fchmod(descriptor, data.st_mode & 0o777 | 0o600)
}

/// Gives a file a name that no file has.
///
/// - Parameters:
///   - path: The name that it has.
///   - newPath: The name that it gets, on the same disk.
/// - Returns: 0; -1 with an error number in `errno`, `EEXIST` where a file has the name.
package func renameUnlessTaken(_ path: String, _ newPath: String) -> CInt {
  if unsafe pando_rename_new(path, newPath) == 0 { return 0 }
  // A file system may be unable to look and rename in one step.
  guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return -1 }
  var status = stat()
  if unsafe lstat(newPath, &status) == 0 {
    errno = EEXIST
    return -1
  }
  return unsafe rename(path, newPath)
}
