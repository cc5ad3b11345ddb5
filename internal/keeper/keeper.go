// Package keeper keeps child processes: they end when this process ends, however it ends.
//
// On Linux the children belong to a keeper process ([Run]), which this process starts at the first need ([New]). The keeper ends all
// of them, grandchildren too, when its owner's end of a socket closes. What a keeper leaves behind that is killed is found by its marks:
// by its owner, or if that was killed too by the next one ([EndLeft]). On other systems the children belong to this process.
package keeper

// MarkVar is the environment variable by which the keeper recognises the processes of one child that have left its process group: by
// a session of their own, or because their parent is gone. Its value begins with the id of the keeper, which is as random as a key. The
// kernel keeps the environment that a program was started with (proc(5), /proc/PID/environ); a process that was started with another
// environment is found only when the keeper ends. The variable also tells what a server runs from what a person runs.
const MarkVar = "MYCELIUM_SERVER"
